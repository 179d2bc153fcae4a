import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newDataDir, startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { bodyOf, createSpan, listSpans, retrieveSpan, settle } from "../support/spans.ts";

// A separate process, whose memory and event loop are measured.
const dataDir = newDataDir();
let server: ServerProcess;
beforeAll(async () => {
  server = await startServerProcess(dataDir.path, { SPANWAY_LOG_LEVEL: "info" });
});
afterAll(async () => {
  await server.kill("SIGTERM");
  await dataDir.remove();
});

const MiB = 1024 * 1024;
const singlePath = "/api/request-logs/";
const bulkPath = "/api/request-logs/bulk/";
/** The time that a bomb may use of the main thread. CPU time, because the machine of a test run is also busy with other work. */
const busyMsMax = 2000;

const rssBytes = (): number => {
  const status = readFileSync(`/proc/${server.child.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
};

/** CPU time of the main thread, in the kernel's hundredths of a second. */
const mainThreadMs = (): number => {
  const stat = readFileSync(`/proc/${server.child.pid}/task/${server.child.pid}/stat`, "utf8");
  const [user, system] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) * 10;
};

type Cost<T> = { result: T; busyMs: number; grownMiB: number; othersServed: number };

/** Runs `work` while a second client repeats a small request. */
async function whileOthersRequest<T>(work: () => Promise<T>): Promise<Cost<T>> {
  const [rssBefore, busyBefore] = [rssBytes(), mainThreadMs()];
  let isDone = false;
  let peak = rssBefore;
  let othersServed = 0;
  const asking = (async () => {
    while (!isDone) {
      expect((await server.prod.get("/livez")).status).toBe(200);
      othersServed += 1;
      peak = Math.max(peak, rssBytes());
      await sleep(5);
    }
  })();
  const result = await work();
  isDone = true;
  await asking;
  return { result, busyMs: mainThreadMs() - busyBefore, grownMiB: (peak - rssBefore) / MiB, othersServed };
}

async function expectRefused(
  path: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
  statuses = [413],
): Promise<void> {
  const { result, busyMs, grownMiB, othersServed } = await whileOthersRequest(() =>
    server.prod.post(path, body, headers),
  );
  expect(statuses).toContain(result.status);
  expect(bodyOf(result)["code"]).toMatch(
    /^(payload_too_large|invalid_request|validation_failed|unsupported_media_type)$/,
  );
  expect(result.text.length).toBeLessThan(100_000);
  expect(busyMs).toBeLessThan(busyMsMax);
  expect(grownMiB).toBeLessThan(500);
  expect(othersServed).toBeGreaterThan(0);
}

describe("millions of empty objects", () => {
  const groups = 1_900_000;
  const length = Buffer.from([
    ((2 * groups) & 0x7f) | 0x80,
    (((2 * groups) >> 7) & 0x7f) | 0x80,
    (((2 * groups) >> 14) & 0x7f) | 0x80,
    (2 * groups) >> 21,
  ]);
  const scopes = Buffer.alloc(2 * groups, Buffer.from([0x12, 0]));
  const many = (text: string): string => `${text},`.repeat(groups / 4 - 1) + text;
  test.each<[string, string, string | Buffer]>([
    ["protobuf", "scopes", Buffer.concat([Buffer.from([0x0a]), length, scopes])],
    ["protobuf", "resources", Buffer.alloc(2 * groups, Buffer.from([0x0a, 0]))],
    ["json", "scopes", `{"resourceSpans":[{"scopeSpans":[${many("{}")}]}]}`],
    ["json", "resources", `{"resourceSpans":[${many("{}")}]}`],
  ])("an export in %s of empty %s is refused before it delays other requests", async (encoding, _of, body) => {
    const headers = { "content-type": `application/${encoding === "json" ? encoding : "x-protobuf"}` };
    const packed = { ...headers, "content-encoding": "gzip" };
    const { result, busyMs } = await whileOthersRequest(() =>
      server.prod.post("/api/v2/traces", gzipSync(body), packed),
    );
    expect(result.status).toBe(413);
    expect(busyMs).toBeLessThan(busyMsMax);
  });
});

describe("small bodies that unpack into large ones", () => {
  const zeros = Buffer.alloc(128 * MiB);
  // Members of a gzip stream are concatenated: 1 GiB without the time to compress it.
  const gzipped = Buffer.concat(Array.from({ length: 64 }, () => gzipSync(zeros.subarray(0, 16 * MiB))));
  const codings: [string, () => Uint8Array][] = [
    ["gzip", () => gzipped],
    ["deflate", () => deflateSync(zeros, { level: 1 })],
    ["br", () => brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ["zstd", () => zstdCompressSync(zeros)],
  ];
  test.each(codings)("a bomb by %s", async (coding, pack) => {
    const packed = pack();
    for (const path of [singlePath, bulkPath]) await expectRefused(path, packed, { "content-encoding": coding });
  });

  test("twenty of them concurrently", async () => {
    const {
      result: statuses,
      busyMs,
      grownMiB,
    } = await whileOthersRequest(() =>
      Promise.all(
        Array.from(
          { length: 20 },
          async () => (await server.prod.post(bulkPath, gzipped, { "content-encoding": "gzip" })).status,
        ),
      ),
    );
    for (const status of statuses) expect([413, 503]).toContain(status);
    expect(busyMs).toBeLessThan(busyMsMax);
    expect(grownMiB).toBeLessThan(768);
  });

  test("a body packed twice is refused, not unpacked twice", async () => {
    await expectRefused(bulkPath, gzipSync(gzipped), { "content-encoding": "gzip, gzip" }, [400, 415]);
    await expectRefused(bulkPath, gzipSync(gzipped), { "content-encoding": "gzip" }, [400]);
  });
});

describe("JSON that parses into large values", () => {
  const fill = (unit: string, bytes: number): string => unit.repeat(Math.floor(bytes / unit.length));
  const distinctKeys = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":0`).join(",");
  const bulkOf = (metadata: string): string => `{"logs":[{"metadata":${metadata}}]}`;

  test.each<[string, () => string]>([
    ["numbers", () => bulkOf(`{"a":[${fill("0,", 12 * MiB)}0]}`)],
    ["objects", () => bulkOf(`{"a":[${fill("{},", 12 * MiB)}0]}`)],
    ["texts", () => bulkOf(`{"a":[${fill('"",', 12 * MiB)}0]}`)],
    ["long integers", () => bulkOf(`{"a":[${fill("12345678901234567890,", 12 * MiB)}0]}`)],
    ["distinct keys", () => bulkOf(`{${distinctKeys(800_000)}}`)],
    ["rows", () => `{"logs":[${fill("{},", 12 * MiB)}{}]}`],
    ["levels", () => bulkOf(fill("[", 20 * MiB))],
    ["closed levels", () => bulkOf(`${"[".repeat(6_000_000)}${"]".repeat(6_000_000)}`)],
    ["objects in objects", () => bulkOf(`${'{"a":'.repeat(3_000_000)}0${"}".repeat(3_000_000)}`)],
    ["members nobody reads", () => `{"logs":[{}],"x":[${fill("0,", 12 * MiB)}0]}`],
  ])("12 MiB of %s", async (_name, make) => {
    await expectRefused(bulkPath, make(), {}, [413, 400]);
  });

  test.each<[string, () => string]>([
    ["a list", () => `[${fill("[],", 9 * MiB)}0]`],
    ["keys", () => `{${distinctKeys(800_000)}}`],
    ["levels", () => `${"[".repeat(5_000_000)}${"]".repeat(5_000_000)}`],
    ["objects in objects", () => `{"a":${'{"a":'.repeat(100_000)}0${"}".repeat(100_000)}}`],
  ])("%s as JSON within a text is bounded too", async (_name, make) => {
    const text = JSON.stringify(make());
    await expectRefused(singlePath, `{"metadata":${text},"tools":${text},"usage":${text}}`, {}, [413, 422]);
    const rows = Array.from({ length: 5 }, () => `{"tools":${text}}`);
    await expectRefused(bulkPath, `{"logs":[${rows.join(",")}]}`, {}, [400, 413]);
  });

  test.each([257, 5000, 100_000])("%i levels are refused, a valid row beside them is stored", async (depth) => {
    const deep = `${"[".repeat(depth)}${"]".repeat(depth)}`;
    const deepObject = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    for (const tree of [deep, deepObject]) {
      for (const field of [
        "metadata",
        "input",
        "prompt_messages",
        "unread",
        "usage",
        "customer_params",
        "svc_params",
      ]) {
        await expectRefused(singlePath, `{"${field}":{"a":${tree}}}`, {}, [413, 422]);
      }
      const bulk = await server.prod.post(bulkPath, `{"logs":[{"input":${tree}},{"input":"good"}]}`);
      expect(bulk.json).toMatchObject({ success_count: 1, error_count: 1, errors: [{ index: 0 }] });
    }
    const filter = await server.prod.post("/api/request-logs/list/", `{"filters":{"metadata__a":{"value":${deep}}}}`);
    expect([200, 400, 413]).toContain(filter.status);
  });

  test("escapes and bare NaN do not make reading slow", async () => {
    const quotes = '\\"'.repeat(5 * MiB);
    await expectRefused(bulkPath, `{"logs":[{"input":NaN,"output":"${quotes}`, {}, [400]);
    await expectRefused(bulkPath, `{"logs":[{"input":NaN,"output":"${quotes}"}`, {}, [400]);
    await expectRefused(bulkPath, `{"logs":[{"input":${"NaN".repeat(5 * MiB)}`, {}, [400]);
    const span = await createSpan(server.prod, `{"cost":NaN,"log_type":"chat","input":"${quotes}"}`);
    expect(span).toMatchObject({ cost: null });
    await server.prod.post("/api/request-logs/", {});
  });
});

describe("large but allowed data", () => {
  test("a text that contains a deep tree does not break its list", async () => {
    const input = `[{"role":"user","content":${"[".repeat(50_000)}${"]".repeat(50_000)}}]`;
    const span = await createSpan(server.prod, { log_type: "chat", input, output: input });
    await settle(server.prod);
    expect(await retrieveSpan(server.prod, span["unique_id"])).toMatchObject({ input, output: input });
    const { results } = await listSpans(server.prod, { unique_id: span["unique_id"] });
    expect(results).toMatchObject([{ input }]);
  });

  test("one key of a megabyte and a hundred thousand keys are stored, and filters find the indexed ones", async () => {
    const long = "k".repeat(MiB);
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`attribute.${i}`, i]));
    const metadata = { first: "yes", [long]: 1, ...many };
    const { result: span, busyMs } = await whileOthersRequest(() => createSpan(server.prod, { metadata }));
    expect(busyMs).toBeLessThan(busyMsMax);
    await settle(server.prod);
    expect((await retrieveSpan(server.prod, span["unique_id"]))["metadata"]).toEqual(metadata);
    expect((await listSpans(server.prod, { metadata__first: "yes" })).results).toHaveLength(1);
  });

  test("a page that is too large for the store is 413 with advice; with fewer fields or rows it works", async () => {
    const span = gzipSync(`{"group_identifier":"huge","input":"${"x".repeat(19.5 * MiB)}"}`, { level: 1 });
    for (let i = 0; i < 5; i += 1) await createSpan(server.prod, span, { "content-encoding": "gzip" });
    await settle(server.prod);
    const filters = { group_identifier: { value: ["huge"] } };
    const list = async (query: string) => await server.prod.post(`/api/request-logs/list/?${query}`, { filters });
    expect(await list("include_fields=id")).toMatchObject({ status: 200, json: { count: 5 } });
    expect(await list("include_fields=input")).toMatchObject({
      status: 413,
      json: { code: "query_too_large", detail: expect.stringContaining("narrow the time range or add filters") },
    });
    expect((await list("include_fields=input&page_size=1")).status).toBe(200);
  });

  test("20 MB a span and 64 MiB a request, to the byte", async () => {
    const spanOf = (bytes: number): string => `{"input":"${"x".repeat(bytes - 12)}"}`;
    expect((await server.prod.post(singlePath, spanOf(20 * MiB))).status).toBe(413);
    expect((await server.prod.post(singlePath, spanOf(20 * MiB - 4096))).status).toBe(201);
    expect((await server.prod.post(singlePath, spanOf(20 * MiB + 1))).status).toBe(413);
    const row = spanOf(1 * MiB);
    const body = `{"logs":[${Array.from({ length: 63 }, () => row).join(",")}]}`;
    const padded = body + " ".repeat(64 * MiB - body.length);
    const { result, busyMs } = await whileOthersRequest(() => server.prod.post(bulkPath, padded));
    expect(result.json).toMatchObject({ success_count: 63 });
    expect(busyMs).toBeLessThan(busyMsMax);
    expect((await server.prod.post(bulkPath, `${padded} `)).status).toBe(413);
    const big = await server.prod.post(bulkPath, `{"logs":[${spanOf(21 * MiB)},{"input":"small"}]}`);
    expect(big.json).toMatchObject({ success_count: 1, errors: [{ index: 0, code: "payload_too_large" }] });
  });
});
