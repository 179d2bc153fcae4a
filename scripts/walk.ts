import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { countCalls, orderOf, takeCalled, type SourceFunction } from "./walk/functions.ts";
import { connectInspector, type Inspector } from "./walk/inspector.ts";

/**
 * `npm run walk -- span|chat|stream|otlp`: the source files that one request enters, in the order of first entry, with
 * the named functions entered in each. V8 counts the calls in a server that this script starts, in several windows
 * with one request and without. A function is entered by the request if it ran in each window with one and in none
 * without; the other files that ran are listed as left out.
 */

const sources = new URL("../server/src/", import.meta.url);
const key = "walk_key_0123456789";
/** The time until the sent data is stored and counted, in milliseconds. */
const settleMs = 2_500;
/** The first window without a request, which sees the jobs that run every few seconds. */
const idleMs = 7_000;
/** Pairs of a window without a request and one with it. Two, since background work seldom falls into both requests. */
const rounds = 2;

const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] };
const requests: Readonly<Record<string, () => { path: string; body: object }>> = {
  span: () => ({ path: "/api/request-logs/", body: { ...chat, output: "hi", prompt_tokens: 3, completion_tokens: 1 } }),
  chat: () => ({ path: "/v1/chat/completions", body: chat }),
  stream: () => ({ path: "/v1/chat/completions", body: { ...chat, stream: true } }),
  otlp: () => ({ path: "/api/v2/traces", body: exportOfOneSpan() }),
};

const [kind = ""] = process.argv.slice(2);
const makeRequest = Object.hasOwn(requests, kind) ? requests[kind] : undefined;
if (makeRequest === undefined) {
  console.error(`Usage: npm run walk -- ${Object.keys(requests).join("|")}

Prints the files that such a request enters, and the functions in each. It starts a server of its own, on a free port and
with a temporary data folder.`);
  process.exit(2);
}
const upstream = await startUpstream();
const folder = mkdtempSync(join(tmpdir(), "spanway-walk-"));
const server = await startServer((upstream.address() as AddressInfo).port);
try {
  const { answered, order, leftOut } = await walk(server.inspector, async () => send(makeRequest()));
  print("Before the response", order.filter(answered));
  print(
    "After it",
    order.filter((entry) => !answered(entry)),
  );
  const files = new Set(order.map(({ file }) => file));
  for (const [reason, ran] of Object.entries(leftOut)) {
    const others = [...new Set(ran.map(({ file }) => file))].filter((file) => !files.has(file)).toSorted();
    console.log(`Left out, since they ran ${reason}: ${others.join(", ") || "none"}`);
  }
  console.log(`${kind}: ${files.size} files, ${order.filter(isNamed).length} functions`);
} finally {
  await server.stop();
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
}

type Walk = {
  order: SourceFunction[];
  answered: (entry: SourceFunction) => boolean;
  /** Functions that ran in a window with a request and are not entered by it, by reason. */
  leftOut: Record<string, SourceFunction[]>;
};

async function walk(inspector: Inspector, request: () => Promise<void>): Promise<Walk> {
  const take = (): Promise<Map<string, SourceFunction>> => takeCalled(inspector, sources.href);
  // The first requests also run one-time initialisation.
  for (let i = 0; i < 3; i += 1) await request();
  await sleep(settleMs);
  await countCalls(inspector);
  const idle = new Set<string>();
  const before = new Set<string>();
  const ran = new Map<string, { entry: SourceFunction; windows: number }>();
  for (let round = 0; round < rounds; round += 1) {
    await sleep(round === 0 ? idleMs : settleMs);
    for (const id of (await take()).keys()) idle.add(id);
    await request();
    const early = await take();
    await sleep(settleMs);
    for (const id of early.keys()) before.add(id);
    for (const [id, entry] of new Map([...early, ...(await take())]))
      ran.set(id, { entry, windows: (ran.get(id)?.windows ?? 0) + 1 });
  }
  const entries = [...ran].map(([id, { entry, windows }]) => ({ entry, isIdle: idle.has(id), windows }));
  const where = (matches: (ran: (typeof entries)[number]) => boolean): SourceFunction[] =>
    entries.filter(matches).map(({ entry }) => entry);
  const own = where(({ isIdle, windows }) => !isIdle && windows === rounds);
  const order = await orderOf(inspector, own, { request, quietMs: settleMs });
  const leftOut = {
    "also without a request": where(({ isIdle }) => isIdle),
    "with only some of the requests": where(({ isIdle, windows }) => !isIdle && windows < rounds),
  };
  return { order, answered: ({ file, start }) => before.has(`${file}:${start}`), leftOut };
}

/** A line for each file, with the names of its functions. Files without a named function have their path alone. */
function print(title: string, functions: readonly SourceFunction[]): void {
  const byFile = Map.groupBy(functions, ({ file }) => file);
  console.log(`${title}: ${byFile.size} files, ${functions.filter(isNamed).length} functions`);
  for (const [file, entries] of byFile) {
    const names = new Set(entries.filter(isNamed).map(({ name }) => name));
    console.log(names.size === 0 ? `  ${file}` : `  ${file}: ${[...names].join(", ")}`);
  }
}

/** False for closures and initializers of fields, which V8 names `<instance_members_initializer>`. */
function isNamed({ name }: SourceFunction): boolean {
  return name !== "" && !name.startsWith("<");
}

async function send({ path, body }: { path: string; body: object }): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
}

async function startServer(upstreamPort: number): Promise<{
  url: string;
  inspector: Inspector;
  stop(): Promise<void>;
}> {
  const { PATH, HOME } = process.env;
  const env = {
    PATH,
    HOME,
    SPANWAY_DATA_DIR: folder,
    SPANWAY_PORT: "0",
    SPANWAY_PROD_KEY: key,
    SPANWAY_LOG_LEVEL: "info",
    OPENAI_API_KEY: "sk-walk",
    OPENAI_BASE_URL: `http://127.0.0.1:${upstreamPort}/v1`,
  };
  const main = fileURLToPath(new URL("main.ts", sources));
  const child = spawn(process.execPath, ["--inspect=127.0.0.1:0", main], { env, stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "exit");
  const found = (stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      createInterface({ input: stream }).on("line", (line) => {
        const match = pattern.exec(line)?.[1];
        if (match !== undefined) resolve(match);
      });
      void exited.then(([code]) => reject(new Error(`the server ended with ${code}`)));
    });
  const [url, inspectorUrl] = await Promise.all([
    found(child.stdout, /"url":"([^"]+)","msg":"Spanway is listening"/),
    found(child.stderr, /Debugger listening on (ws:\S+)/),
  ]);
  const inspector = await connectInspector(inspectorUrl);
  const stop = async (): Promise<void> => {
    inspector.close();
    child.kill("SIGTERM");
    await exited;
  };
  return { url, inspector, stop };
}

/** A provider that responds with a greeting, whole or as a stream. */
async function startUpstream(): Promise<Server> {
  const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
  const head = { id: "chatcmpl-walk", created: 1_700_000_000, model: chat.model };
  const message = { role: "assistant", content: "hello" };
  const whole = { ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }], usage };
  const part = { ...head, object: "chat.completion.chunk" };
  const chunks = [
    { ...part, choices: [{ index: 0, delta: message, finish_reason: null }] },
    { ...part, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage },
  ];
  const events = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"]
    .map((data) => `data: ${data}\n\n`)
    .join("");
  const upstream = createServer((incoming, answer) => {
    void incoming.toArray().then((parts: Buffer[]) => {
      const isStream = Buffer.concat(parts).includes('"stream":true');
      answer.setHeader("content-type", isStream ? "text/event-stream" : "application/json");
      answer.end(isStream ? events : JSON.stringify(whole));
    });
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  return upstream;
}

function exportOfOneSpan(): object {
  const hex = (length: number): string =>
    Array.from({ length }, () => Math.floor(Math.random() * 16).toString(16)).join("");
  const attribute = (name: string, value: object): object => ({ key: name, value });
  const span = {
    traceId: hex(32),
    spanId: hex(16),
    name: "chat gpt-4o-mini",
    kind: 3,
    startTimeUnixNano: `${Date.now() - 1000}000000`,
    endTimeUnixNano: `${Date.now()}000000`,
    attributes: [
      attribute("gen_ai.operation.name", { stringValue: "chat" }),
      attribute("gen_ai.request.model", { stringValue: chat.model }),
      attribute("gen_ai.usage.input_tokens", { intValue: "3" }),
      attribute("gen_ai.usage.output_tokens", { intValue: "1" }),
    ],
  };
  return { resourceSpans: [{ scopeSpans: [{ scope: { name: "walk" }, spans: [span] }] }] };
}
