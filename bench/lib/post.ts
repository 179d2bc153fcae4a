import { request, type Agent } from "node:http";
import { benchKey } from "./bench-server.ts";

/**
 * POSTs bytes with the bench's key. `node:http`, because a load generator must cost less than the server under load.
 */
export function post(
  agent: Agent,
  url: string,
  body: Buffer,
  contentType = "application/json",
  more: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${benchKey}`,
      "content-type": contentType,
      "content-length": body.byteLength,
      ...more,
    };
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
