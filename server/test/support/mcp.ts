import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Row, TestClient } from "./test-client.ts";

/** Which handshake the official client uses: that of 2025 and before, or that of 2026. */
export type Era = "legacy" | "auto";
export const eras = ["legacy", "auto"] as const;

/** The official client, connected with the credential of a test client. */
export async function connectMcp(url: string, { authorization }: TestClient, era: Era = "auto"): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: era } });
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", url), {
    requestInit: { headers: { authorization } },
  });
  await client.connect(transport);
  return client;
}

export type ToolAnswer = { isError: boolean; texts: string[]; data: Row };

/** The data is the JSON after the note, or the error. */
export async function callTool(client: Client, name: string, given: Row = {}): Promise<ToolAnswer> {
  const { content, isError = false } = await client.callTool({ name, arguments: given });
  const texts = content.map((each) => (each.type === "text" ? each.text : each.type));
  return { isError, texts, data: JSON.parse(texts[isError ? 0 : 1] ?? "null") as Row };
}

/** One JSON-RPC message of the protocol of 2025, as curl sends it. */
export function rpc(method: string, params: Row = {}, id: unknown = 1): Row {
  return { jsonrpc: "2.0", id, method, params };
}
