import { DemoError, type Target } from "../demo/send-spans.ts";

type Json = Record<string, unknown>;

/** The API calls of the demo. Each throws a `DemoError` with the server's response if it fails. */
export type Api = {
  get(path: string): Promise<Json>;
  post(path: string, body: Json): Promise<Json>;
  delete(path: string): Promise<void>;
  /** A chat completion, with the id of its span. */
  chat(body: Json): Promise<{ logId: string; content: string }>;
};

export function createApi({ url, key }: Target): Api {
  const call = async (method: string, path: string, body?: Json): Promise<Response> => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new DemoError(`${url} cannot be reached. Is it running? (${String(error)})`);
    });
    if (response.ok) return response;
    throw new DemoError(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  };
  const json = async (response: Response): Promise<Json> => (await response.json()) as Json;
  return {
    get: async (path) => json(await call("GET", path)),
    post: async (path, body) => json(await call("POST", path, body)),
    delete: async (path) => void (await call("DELETE", path)),
    async chat(body) {
      const response = await call("POST", "/api/chat/completions", body);
      const { choices } = (await json(response)) as { choices: Array<{ message: { content: string } }> };
      return {
        logId: response.headers.get("x-spanway-log-id") ?? "",
        content: choices[0]?.message.content ?? "",
      };
    },
  };
}
