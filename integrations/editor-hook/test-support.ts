import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { Row } from "../../server/test/support/test-client.ts";

const here = import.meta.dirname;
export const script = join(here, "spanway-hook.mjs");

/** The hooks of one turn in their order; README.md states their source. */
export const recorded: readonly Row[] = readdirSync(join(here, "fixtures/turn"))
  .sort()
  .map((name) => JSON.parse(readFileSync(join(here, "fixtures/turn", name), "utf8")) as Row);

export type Ids = { conversation: string; generation?: string };

/** A recorded hook, of another turn. */
export function hook(event: string, ids: Ids, members: Row = {}): Row {
  const found = recorded.find(({ hook_event_name }) => hook_event_name === event);
  return { ...found, conversation_id: ids.conversation, generation_id: ids.generation, ...members };
}

export type Run = { code: number | null; stdout: string; stderr: string; ms: number };

/** Shared by the hooks of one editor: a separate folder, and variables without the server's address. */
export type Editor = {
  folder: string;
  /** The state folder of the script, which creates it. */
  state: string;
  env: Record<string, string>;
  /** Runs the script as the editor does; without input, its stdin stays open. */
  run(input: Row | string | undefined): Promise<Run>;
  /** Runs hooks one after another; each must leave the editor unaffected. */
  runAll(payloads: readonly Row[]): Promise<void>;
  /** Every text below the folder. */
  textOnDisk(): string;
  close(): void;
};

export function openEditor(): Editor {
  const folder = mkdtempSync(join(tmpdir(), "spanway-hook-"));
  const state = join(folder, "a", "state");
  const env = { TRACE_TO_SPANWAY: "true", SPANWAY_API_KEY: "hook_key_0123456789", SPANWAY_HOOK_STATE_DIR: state };
  const editor: Editor = {
    folder,
    state,
    env,
    async run(input) {
      const startMs = performance.now();
      const child = spawn(process.execPath, [script], { env: editor.env, cwd: folder });
      let [stdout, stderr] = ["", ""];
      child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
      child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
      if (input !== undefined) child.stdin.end(typeof input === "string" ? input : JSON.stringify(input));
      const [code] = (await once(child, "close")) as [number | null];
      return { code, stdout, stderr, ms: performance.now() - startMs };
    },
    async runAll(payloads) {
      for (const payload of payloads) {
        const stdout = payload["hook_event_name"] === "beforeSubmitPrompt" ? '{"continue":true}\n' : "{}\n";
        expect(await editor.run(payload)).toMatchObject({ code: 0, stdout, stderr: "" });
      }
    },
    textOnDisk: () =>
      filesBelow(folder)
        .map((path) => readFileSync(path, "utf8"))
        .join("\n"),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
  return editor;
}

export function filesBelow(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile());
}

/** A server that responds with one status, or never, and records its requests. */
export async function startPeer(status: number | "never") {
  const requests: { path: string | undefined; key: string | undefined; spans: Row[] }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      requests.push({ path: request.url, key: request.headers.authorization, spans: JSON.parse(body) as Row[] });
      if (status !== "never") response.writeHead(status).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/api`,
    requests,
    spanIds: () => requests.map(({ spans }) => spans.map((span) => span["span_unique_id"])),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
