import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { Session } from "chdb";
import { bindLiterals } from "../../src/storage/spans/drivers/bind-literals.ts";
import { createTestCluster } from "./clickhouse-cluster.ts";
import type { ServerFaults, ServerMessage } from "./clickhouse-http-server.ts";

/** The process behind clickhouse-http-server.ts; its arguments are a folder, and `cluster` for a cluster. */

const folder = process.argv[2] ?? "";
const cluster = process.argv[3] === "cluster" ? createTestCluster(folder) : undefined;
const path = join(folder, "data");
const idle = Array.from({ length: 8 }, connect);
const waiting: ((session: Session) => void)[] = [];
let faults: ServerFaults = {};

type Call = { sql: string; params: Record<string, string>; settings: Map<string, string>; data: Buffer };

function connect(): Session {
  const session = new Session(path, { connectionArgs: cluster?.connectionArgs ?? [] });
  // Values are part of the text here; in production they are not part of the URL or the statement.
  session.query("SET max_query_size = 268435456");
  return session;
}

/** Parameters of a URL that are not settings. */
const reserved = new Set(["query", "database", "default_format", "query_id", "session_id", "user", "password", "role"]);
/** Settings of the HTTP layer only; the engine does not know them. */
const httpOnly = /^(wait_end_of_query|enable_http_compression|send_progress_in_http_headers|http_.*)$/;

async function readCall(request: IncomingMessage, url: URL): Promise<Call> {
  const raw = await buffer(request);
  const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw;
  const query = url.searchParams.get("query");
  const given = new Map(url.searchParams);
  const type = request.headers["content-type"] ?? "";
  let sql = query ?? body.toString();
  let data = query === null ? Buffer.alloc(0) : body;
  if (type.startsWith("multipart/form-data")) {
    const form = await new Response(body as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } }).formData();
    for (const [name, value] of form) given.set(name, typeof value === "string" ? value : await value.text());
    sql = given.get("query") ?? sql;
    data = Buffer.alloc(0);
  }
  const entries = [...given];
  const settings = new Map(
    entries.filter(([name]) => !reserved.has(name) && !name.startsWith("param_") && !httpOnly.test(name)),
  );
  const params = entries
    .filter(([name]) => name.startsWith("param_"))
    .map(([name, value]) => [name.slice(6), value] as const);
  return { sql, params: Object.fromEntries(params), settings, data };
}

const escapes: Record<string, string> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  "0": "\0",
  "\\": "\\",
  "'": "'",
};

/** For statements that return many small pieces. */
function bounded(call: Call): Call {
  const { memoryBytes } = faults;
  if (memoryBytes === undefined || !/\bFROM spans\b/.test(call.sql)) return call;
  const settings = `max_memory_usage = ${memoryBytes}, max_untracked_memory = 1`;
  return { ...call, sql: call.sql.replace(/\bmax_memory_usage = \d+/, settings) };
}

/** Parameters arrive in ClickHouse's escaped form; lists keep the escapes within their quotes, which the cast parses. */
function unescaped(params: Record<string, string>, sql: string): Record<string, string> {
  const types = new Map([...sql.matchAll(/\{(\w+):([^{}]+)\}/g)].map(([, name, type]) => [name, type]));
  const read = (name: string, value: string) =>
    types.get(name)?.startsWith("Array") ? value : value.replace(/\\(.)/g, (_all, c: string) => escapes[c] ?? c);
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, read(name, value)]));
}

async function take(): Promise<Session> {
  return idle.pop() ?? (await new Promise<Session>((resolve) => waiting.push(resolve)));
}

/** A session whose statement failed is replaced: otherwise chDB would prepend its output to the next result. */
function replace(session: Session): void {
  session.close();
  release(connect());
}

function release(session: Session): void {
  const next = waiting.shift();
  if (next === undefined) idle.push(session);
  else next(session);
}

async function run({ sql, params, settings, data }: Call): Promise<Buffer> {
  const session = await take();
  try {
    const insert = /^\s*INSERT\s+INTO\s+(\w+)\s*(?:SETTINGS\s+(.*?))?\s*FORMAT\s+JSONEachRow\s*$/is.exec(sql);
    if (insert && data.length > 0) {
      const pairs = (insert[2] ?? "")
        .split(/,\s*/)
        .filter(Boolean)
        .map((pair) => pair.split(/\s*=\s*/));
      const values = pairs.map(([name = "", value = ""]) => [name, value.replace(/^'(.*)'$/, "$1")]);
      const own = Object.fromEntries([...settings, ...values]) as Record<string, string>;
      const table = insert[1] ?? "";
      await session.insert({
        table: cluster?.tableOf(table) ?? table,
        values: data,
        format: "JSONEachRow",
        settings: own,
      });
      release(session);
      return Buffer.alloc(0);
    }
    const prefix = [...settings].map(([name, value]) => `SET ${name} = '${value.replaceAll("'", "''")}'; `).join("");
    const bound = bindLiterals(sql, unescaped(params, sql));
    const statement = cluster === undefined ? bound : cluster.settings() + cluster.prepare(bound, session);
    const result = await session.queryAsync(prefix + statement, { format: "TabSeparated" });
    release(session);
    return Buffer.from(result.bytes());
  } catch (error) {
    replace(session);
    throw error;
  }
}

/** Without `wait_end_of_query` a server streams its output, and an error after it. */
async function stream({ sql, params, settings }: Call, response: ServerResponse): Promise<void> {
  const [, statement = "", format = ""] = /^(.*?)\s+FORMAT\s+(\w+)\s*$/s.exec(sql) ?? [];
  const session = connect();
  try {
    const own = [...settings].map(([name, value]) => `SET ${name} = '${value.replaceAll("'", "''")}'`);
    const shared = cluster?.settings().split(";") ?? [];
    for (const set of [...own, ...shared]) if (set.trim() !== "") session.query(set);
    const bound = bindLiterals(statement, unescaped(params, sql));
    const prepared = cluster?.prepare(bound, session) ?? bound;
    // In Parquet each chunk would be a separate file.
    const pieces =
      format === "Parquet"
        ? [(await session.queryAsync(prepared, { format })).bytes()]
        : session.queryStream(prepared, { format });
    for await (const piece of pieces) {
      const bytes = Buffer.from(piece instanceof Uint8Array ? piece : piece.raw());
      const broken = faults.breakStreams !== undefined ? bytes.subarray(0, bytes.length - 4) : bytes;
      if (!response.write(broken)) await once(response, "drain");
      if (faults.breakStreams === "reset") {
        // So that the piece is sent before.
        await sleep(100);
        response.destroy();
        return;
      }
      if (faults.breakStreams === "exception") {
        response.end("Code: 241. DB::Exception: Memory limit (for query) exceeded. (MEMORY_LIMIT_EXCEEDED)\n");
        return;
      }
    }
    response.end();
  } finally {
    session.close();
  }
}

function fail(response: ServerResponse, error: unknown): void {
  const message = error instanceof Error ? error.message.replace(/^Query failed: /, "") : String(error);
  const code = /Code: (\d+)\./.exec(message)?.[1] ?? "1002";
  response.writeHead(code === "159" ? 417 : 500, { "X-ClickHouse-Exception-Code": code, "content-type": "text/plain" });
  response.end(message);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { refuse, delayMs } = faults;
  if (refuse === "reset") {
    request.socket.destroy();
    return;
  }
  if (refuse === "503") {
    request.resume();
    response.writeHead(503).end("the server is going down");
    return;
  }
  const url = new URL(request.url ?? "/", "http://localhost");
  if (url.pathname === "/ping") {
    response.end("Ok.\n");
    return;
  }
  const call = bounded(await readCall(request, url));
  if (delayMs !== undefined) await sleep(delayMs);
  const isRead = /^\s*SELECT/i.test(call.sql);
  if (isRead && url.searchParams.get("wait_end_of_query") !== "1") {
    await stream(call, response);
    return;
  }
  const body = await run(call);
  if (/^\s*INSERT/i.test(call.sql) && (faults.dropInsertReplies ?? 0) > 0) {
    faults.dropInsertReplies = (faults.dropInsertReplies ?? 0) - 1;
    request.socket.destroy();
    return;
  }
  response.setHeader("X-ClickHouse-Summary", JSON.stringify({ read_rows: "0", written_rows: "0" }));
  const isCompressed =
    url.searchParams.get("enable_http_compression") === "1" && /gzip/.test(String(request.headers["accept-encoding"]));
  if (isCompressed) response.setHeader("content-encoding", "gzip");
  response.end(isCompressed ? gzipSync(body) : body);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => fail(response, error));
});

function send(message: ServerMessage): void {
  process.send?.(message);
}

process.on("message", (message) => {
  faults = message as ServerFaults;
  send({ type: "faults-set" });
});
process.on("disconnect", () => process.exit(0));
process.on("SIGTERM", () => process.exit(0));

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  send({ type: "listening", port: typeof address === "object" && address ? address.port : 0 });
});
