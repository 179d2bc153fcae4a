import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { benchKey, startBenchServer, type BenchServer } from "./bench-server.ts";
import { chatRequest } from "./chat-bodies.ts";
import { onMeasuredCore } from "./cores.ts";
import { freePort } from "../../server/test/support/free-port.ts";
import { ended, type Upstream } from "./upstream.ts";

/** A process between client and upstream, on the measured core. */
export type Contender = {
  name: string;
  /** The URL for chat completions, for a provider with OpenAI's wire format. */
  url: string;
  pid: number;
  headers: Record<string, string>;
  stop(): Promise<void>;
};

const json = { "content-type": "application/json" };

/** No process: the upstream itself. */
export function direct(upstream: Upstream): Contender {
  const url = `${upstream.url}/v1/chat/completions`;
  return { name: "direct", url, pid: 0, headers: json, stop: () => Promise.resolve() };
}

export async function startBareProxy(upstream: Upstream): Promise<Contender> {
  const { command, args } = onMeasuredCore(process.execPath, []);
  const script = join(import.meta.dirname, "bare-proxy-process.ts");
  const child = fork(script, [upstream.url], { execPath: command, execArgv: args });
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  const stop = (): Promise<void> => ended(child);
  return { name: "bare proxy", url: `${url}/v1/chat/completions`, pid: child.pid ?? 0, headers: json, stop };
}

/**
 * Spanway, logging and storing; `openai`, `groq` and `anthropic` are the upstream's paths for each kind of response.
 */
export async function startSpanway(
  upstream: Upstream,
  folder: string,
  environment: Record<string, string> = {},
): Promise<Contender & { server: BenchServer }> {
  const providers = {
    OPENAI_API_KEY: "sk-bench",
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    GROQ_API_KEY: "sk-bench",
    GROQ_BASE_URL: `${upstream.url}/stream`,
    ANTHROPIC_API_KEY: "sk-bench",
    ANTHROPIC_BASE_URL: `${upstream.url}/anthropic`,
  };
  const server = await startBenchServer(join(folder, "data"), { ...providers, ...environment }, { isPinned: true });
  return {
    name: "spanway",
    url: `${server.url}/api/chat/completions`,
    pid: server.child.pid ?? 0,
    headers: { ...json, authorization: `Bearer ${benchKey}` },
    server,
    stop: () => server.stop(),
  };
}

/** Another gateway in TypeScript, installed here when it is first used. */
export async function startPortkey(upstream: Upstream): Promise<Contender> {
  const folder = join(import.meta.dirname, "..", "portkey");
  const script = join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js");
  if (!existsSync(script)) {
    const options = { cwd: folder, stdio: "inherit" } as const;
    const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], options);
    if (status !== 0) throw new Error("@portkey-ai/gateway could not be installed");
  }
  const port = await freePort();
  const { command, args } = onMeasuredCore(process.execPath, [script, `--port=${port}`, "--headless"]);
  const child = spawn(command, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  const url = `http://127.0.0.1:${port}/v1/chat/completions`;
  const headers = {
    ...json,
    authorization: "Bearer sk-bench",
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `${upstream.url}/v1`,
  };
  for (let tries = 0; ; tries += 1) {
    const sent = fetch(url, { method: "POST", headers, body: chatRequest("gpt-4o", false) });
    const answer = await sent.catch(() => undefined);
    const text = await answer?.text();
    if (answer?.status === 200) break;
    if (tries > 200) throw new Error(`portkey responded with ${answer?.status}: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { name: "portkey", url, pid: child.pid ?? 0, headers, stop: () => ended(child) };
}
