import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, test } from "vitest";
import { operationsOf } from "../support/api-operations.ts";
import { eventually } from "../support/evaluation.ts";
import { send, gatewayOperations } from "../support/gateway-operations.ts";
import { protobufType, traceOf } from "../support/otlp.ts";
import { encodeTraces } from "../support/otlp-encoder.ts";
import { eventRecord, logsOf, newIds, spanWithoutContent, whenSpan, type Ids } from "../support/otlp-logs.ts";
import { answers, startScriptedUpstream, type ScriptedUpstream } from "../support/scripted-upstream.ts";
import { newDataDir, programEnvironment, programs } from "../support/server-process.ts";
import { bodyOf, listSpans, settleCalls } from "../support/spans.ts";
import { testAdmin, testEnvironment, testKeys } from "../support/test-app.ts";
import { createClient, type Answer, type Row, type TestClient } from "../support/test-client.ts";

const dataDir = newDataDir();
let upstream: ScriptedUpstream | undefined;
afterAll(async () => {
  await upstream?.stop();
  await dataDir.remove();
});

/** In a separate mount namespace: it needs no root, and ends with the process. */
const isolated = ["-Urm", "bash", "-c", 'mount -t tmpfs -o size=96m none "$SPANWAY_DATA_DIR" && exec "$0" "$@"'];
const canMount = spawnSync("unshare", [...isolated, "true"], {
  env: { ...process.env, SPANWAY_DATA_DIR: dataDir.path },
});

/** The server with its data folder on a small disk, and a file that fills the rest of the disk. */
async function startOnSmallDisk(overrides: Record<string, string>) {
  const env = {
    ...programEnvironment(),
    ...testEnvironment(dataDir.path, { SPANWAY_LOG_LEVEL: "info", ...overrides }),
  };
  const child = spawn("unshare", [...isolated, process.execPath, ...programs.main], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const ballast = `/proc/${child.pid}/root${join(dataDir.path, "ballast")}`;
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /"url":"([^"]+)","msg":"Spanway is listening"/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout.resume();
    return { child, url, stderr: () => stderr, fill: () => fill(ballast), empty: () => rmSync(ballast) };
  }
  throw new Error("the server did not start");
}

function fill(path: string): void {
  const file = openSync(path, "a");
  for (const bytes of [1 << 20, 4_096, 1]) {
    try {
      while (writeSync(file, Buffer.alloc(bytes)) > 0);
    } catch (error) {
      expect(error).toMatchObject({ code: "ENOSPC" });
    }
  }
  closeSync(file);
}

/** The request of a route, with the name of its span. */
type Route = { name: string; post: (client: TestClient, tag: string) => Promise<Answer> };

const long = "x".repeat(20_000);
const row = (tag: string): Row => ({ log_type: "chat", custom_identifier: tag, input: long });
const trace = (tag: string) =>
  traceOf({ "gen_ai.operation.name": "chat", "svc.custom_identifier": tag, long }, newIds());
const logged: { ids: Ids; tag: string }[] = [];
const ingestRoutes: Route[] = [
  { name: "POST /api/request-logs/", post: (client, tag) => client.post("/api/request-logs/", row(tag)) },
  {
    name: "POST /api/request-logs/bulk/",
    post: (client, tag) => client.post("/api/request-logs/bulk/", { logs: [row(tag)] }),
  },
  {
    name: "POST /api/v1/traces/ingest",
    post: (client, tag) =>
      client.post("/api/v1/traces/ingest", [
        { ...row(tag), trace_unique_id: tag, span_unique_id: tag, span_name: tag },
      ]),
  },
  { name: "POST /api/v2/traces, JSON", post: (client, tag) => client.post("/api/v2/traces", trace(tag)) },
  {
    name: "POST /api/v2/traces, protobuf",
    post: (client, tag) =>
      client.post("/api/v2/traces", new Uint8Array(encodeTraces(trace(tag) as never)), protobufType),
  },
];
const logRoute: Route = {
  name: "POST /api/v1/logs",
  async post(client, tag) {
    const ids = newIds();
    const message = { role: "user", parts: [{ type: "text", content: `${tag} ${long}` }] };
    const answer = await client.post(
      "/api/v1/logs",
      logsOf(
        eventRecord(ids, "gen_ai.client.inference.operation.details", {
          "gen_ai.input.messages": JSON.stringify([message]),
        }),
      ),
    );
    if (answer.status === 200) logged.push({ ids, tag });
    return answer;
  },
};
const gatewayRoutes: Route[] = gatewayOperations.flatMap((operation) => {
  const { name, whole, begin, end } = operation;
  const stream = answers(200, begin + end, { "content-type": "text/event-stream" });
  const forms = [{ form: "whole", script: answers(200, whole), members: {} }];
  if (operation.canStream) forms.push({ form: "stream", script: stream, members: { stream: true } });
  return forms.map(({ form, script, members }) => ({
    name: `${name}, ${form}`,
    async post(client, tag) {
      upstream?.script(script);
      return await send(client, operation, { ...members, custom_identifier: tag });
    },
  }));
});

test("K13: on a full disk every route responds, none with 500; accepted data stays, and all work again once there is space", async ({
  skip,
}) => {
  skip(canMount.status !== 0, "no disk can be mounted here");
  upstream = await startScriptedUpstream();
  const { child, url, stderr, fill, empty } = await startOnSmallDisk({
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: `${upstream.url}/v1`,
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: upstream.url,
  });
  const exited = once(child, "exit");
  const prod = createClient(url, testKeys.prod);
  const person = bodyOf(await createClient(url).post("/api/auth/login/", testAdmin));
  const operations = await operationsOf(url);
  const taken: string[] = [];
  const post = async ({ name, post: send }: Route, tag: string): Promise<string> => {
    const answer = await send(prod, tag);
    if (answer.status < 300) taken.push(tag);
    return `${name}: ${answer.status < 300 ? "taken" : `${answer.status} ${answer.headers.get("retry-after")} ${answer.text}`}`;
  };

  // Existing files have some free space, so the disk is only full once a route reports it.
  fill();
  for (const route of [...ingestRoutes, logRoute]) {
    let answer = `${route.name}: taken`;
    for (let i = 0; answer.endsWith(": taken") && i < 400; i += 1) {
      answer = await post(route, `full ${route.name} ${i}`);
      fill();
    }
    expect(answer).toMatch(/: 503 \d+ .*cannot be written: the disk is full/);
  }
  const called = [];
  for (const route of gatewayRoutes) called.push(await post(route, `full ${route.name}`));
  // Records of calls wait in memory meanwhile.
  expect(called.filter((answer) => !/: taken$|: 503 \d+ /.test(answer))).toEqual([]);
  expect(called.filter((answer) => answer.endsWith(": taken")).length).toBeGreaterThan(0);

  upstream.script(answers(404, { error: { message: "There is no such thing." } }));
  const asPerson = createClient(url, String(person["access"]));
  // Concurrently, as some wait for spans that were accepted before.
  const others = await Promise.all(
    operations.map(async ({ method, path, body }) => {
      const asKey = await prod.request(method, path, body);
      const { status, headers } = asKey.status === 401 ? await asPerson.request(method, path, body) : asKey;
      return `${method} ${path} ${status}${status === 503 && path !== "/readyz" ? ` ${headers.get("retry-after")}` : ""}`;
    }),
  );
  expect(others.filter((line) => / 500$| 503 null$/.test(line))).toEqual([]);
  expect(others).toContain("POST /api/evaluators/ 503 5");
  expect((await prod.get("/livez")).status).toBe(200);

  empty();
  await eventually(async () =>
    (await prod.post("/api/request-logs/", row("room"))).status === 201 ? true : undefined,
  );
  const again = [];
  for (const route of [...ingestRoutes, logRoute, ...gatewayRoutes])
    again.push(await post(route, `room ${route.name}`));
  expect(again.filter((answer) => !answer.endsWith(": taken"))).toEqual([]);
  await settleCalls(prod);
  const stored: string[] = [];
  for (let page = 1, rows: Row[] = []; page === 1 || rows.length > 0; page += 1) {
    ({ results: rows } = await listSpans(prod, {}, `page_size=1000&page=${page}&include_fields=custom_identifier`));
    stored.push(...rows.map((span) => String(span["custom_identifier"])));
  }
  const ofLogs = new Set(logged.map(({ tag }) => tag));
  const spans = taken.filter((tag) => !ofLogs.has(tag));
  expect(spans.filter((tag) => stored.filter((one) => one === tag).length !== 1)).toEqual([]);
  // Records that wait for a span are joined to it.
  const { ids, tag } = logged[0]!;
  await prod.post("/api/v2/traces", spanWithoutContent(ids));
  const joined = await whenSpan(prod, ids, ({ prompt_messages: messages }) => messages !== null);
  expect(JSON.stringify(joined["prompt_messages"])).toContain(tag);
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(stderr()).toBe("");
}, 60_000);
