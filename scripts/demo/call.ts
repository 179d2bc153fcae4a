import { DemoError, send, type Target } from "./send-spans.ts";

export type Row = Record<string, unknown>;

/** @param allowed error statuses that count as success */
export async function call(
  target: Target,
  method: string,
  path: string,
  body?: Row,
  allowed: readonly number[] = [],
): Promise<unknown> {
  const response = await send(target, { method, path, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (!response.ok && !allowed.includes(response.status)) {
    throw new DemoError(`${method} ${path} answered ${response.status}: ${text.slice(0, 500)}`);
  }
  return JSON.parse(text);
}
