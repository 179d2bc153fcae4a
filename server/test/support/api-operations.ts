type Operation = { requestBody?: { content: Record<string, { example?: unknown }> } };

/** Each operation of the API reference, with its example. Ids in paths refer to no object. */
export async function operationsOf(url: string): Promise<{ method: string; path: string; body: unknown }[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody }]) => ({
      method: method.toUpperCase(),
      // A stream that never ends is refused.
      path: `${path.replaceAll(/\{[^}]+\}/g, "00000000-0000-4000-8000-000000000000")}${path.endsWith("/live/") ? "?last_event_id=none" : ""}`,
      body: requestBody === undefined ? undefined : (requestBody.content["application/json"]?.example ?? {}),
    })),
  );
}
