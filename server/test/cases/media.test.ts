import { hash, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { completion } from "../support/chat.ts";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { traceOf } from "../support/otlp.ts";
import { eventRecord, logsOf, newIds, sendBoth, whenSpan } from "../support/otlp-logs.ts";
import { answers } from "../support/scripted-upstream.ts";
import { bodyOf, createSpan, retrieveSpan, settle, storeSpans } from "../support/spans.ts";
import type { Answer, Row, TestClient } from "../support/test-client.ts";

const dataDir = mkdtempSync(join(tmpdir(), "spanway-media-"));
/** By inode: the engine's table folders are links. */
const bytesOnDisk = (): number => {
  const files = readdirSync(join(dataDir, "spans"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap(({ parentPath, name }) => statSync(join(parentPath, name), { throwIfNoEntry: false }) ?? []);
  return [...new Map(files.map(({ ino, size }) => [ino, size])).values()].reduce((sum, size) => sum + size, 0);
};

let gateway: TestGateway;
let prod: TestClient;
beforeAll(async () => {
  gateway = await startTestGateway({ SPANWAY_DATA_DIR: dataDir });
  prod = gateway.app.prod;
});
afterAll(async () => {
  await gateway.stop();
  rmSync(dataDir, { recursive: true, force: true });
});
beforeEach(() => gateway.upstream.script(answers(200, completion())));

const newImage = (bytes = 100_000) => Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), randomBytes(bytes)]);
const uriOf = (image: Buffer, type = "image/png") => `data:${type};base64,${image.toString("base64")}`;
const messagesWith = (...urls: string[]) => [
  {
    role: "user",
    content: [{ type: "text", text: "look" }, ...urls.map((url) => ({ type: "image_url", image_url: { url } }))],
  },
];
const urlIn = (row: Row): string => {
  const [message] = row["prompt_messages"] as [{ content: { image_url?: { url: string } }[] }];
  return message.content.find(({ image_url }) => image_url !== undefined)?.image_url?.url ?? "";
};
const fetchBytes = async (
  path: string,
  token: string,
): Promise<{ status: number; headers: Headers; bytes: Buffer }> => {
  const response = await fetch(new URL(path, gateway.app.url), { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
};
const deleteTrace = (trace: string) => prod.request("DELETE", `/api/traces/${trace}/?start_time=2000-01-01`);
const key = "test_prod_key_0123456789";
const inline = async (id: unknown): Promise<Answer> => prod.get(`/api/request-logs/${String(id)}/?media=inline`);

describe("O24: media is stored separately from its spans", () => {
  // First, while nothing else is merged in the store.
  test("30 turns that repeat one image of 1 MB store it once", async () => {
    const organization = await gateway.app.newOrganization();
    const url = uriOf(newImage(1_000_000));
    const turns = Array.from({ length: 30 }, (_, turn) => ({
      thread_identifier: "a conversation",
      prompt_messages: [...messagesWith(url), { role: "user", content: `turn ${turn}` }],
      full_request: { messages: messagesWith(url) },
    }));
    const before = bytesOnDisk();
    for (const turn of turns) await createSpan(organization.prod, turn);
    await settle(organization.prod);
    expect(bytesOnDisk() - before).toBeLessThan(2_000_000);
    const { results } = await organization.prod.list({
      thread_identifier: { operator: "", value: ["a conversation"] },
    });
    expect([results.length, new Set(results.map(urlIn)).size]).toEqual([30, 1]);
    expect(JSON.stringify(results).length).toBeLessThan(200_000);
  });

  test("lists and retrieve show a reference, media=inline the whole content", async () => {
    const image = newImage();
    const messages = messagesWith(uriOf(image));
    const { unique_id } = await createSpan(prod, { prompt_messages: messages, custom_identifier: "shown", model: "m" });
    const shown = await retrieveSpan(prod, unique_id);
    const url = urlIn(shown);
    expect(url).toMatch(/^\/api\/media\/[0-9a-f]{64}\/$/);
    const { results } = await prod.waitForSpans(1, { custom_identifier: { operator: "", value: ["shown"] } });
    expect(urlIn(results[0] ?? {})).toBe(url);
    expect(bodyOf(await inline(unique_id))["prompt_messages"]).toEqual(messages);
    const media = await fetchBytes(url, key);
    expect([media.status, media.headers.get("content-type"), media.bytes.equals(image)]).toEqual([
      200,
      "image/png",
      true,
    ]);
    expect(media.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("exports and the tree of a trace show the reference", async () => {
    const trace = "exported-media";
    const row = { trace_unique_id: trace, span_unique_id: "s", prompt_messages: messagesWith(uriOf(newImage())) };
    await storeSpans(prod, [row]);
    const { results } = await prod.waitForSpans(1, { trace_unique_id: { operator: "", value: [trace] } });
    const reference = urlIn(results[0] ?? {});
    const exported = (format: string) =>
      prod.post(`/api/request-logs/export/?start_time=2000-01-01&trace_unique_id=${trace}&format=${format}`, {});
    const shown = [await prod.get(`/api/traces/${trace}/`), await exported("jsonl"), await exported("csv")];
    for (const { status, text } of shown) {
      expect([status, text.includes(reference), text.length < 20_000]).toEqual([200, true, true]);
    }
  });

  test("base64 with line breaks is media too, and is returned as it was sent at any depth", async () => {
    const image = newImage();
    const base64 = image.toString("base64").replaceAll(/.{1,76}/g, "$&\n");
    const sent = {
      prompt_messages: messagesWith(`data:image/png;base64,${base64}`),
      input: `see data:image/png;base64,${base64}`,
      output: JSON.stringify({ mime_type: "image/png", data: base64 }),
      metadata: { tool: JSON.stringify({ result: JSON.stringify({ mime_type: "image/png", data: base64 }) }) },
    };
    const { unique_id } = await createSpan(prod, sent);
    const shown = await retrieveSpan(prod, unique_id);
    expect(JSON.stringify(shown).length).toBeLessThan(10_000);
    expect(urlIn(shown)).toMatch(/^\/api\/media\/[0-9a-f]{64}\/$/);
    expect((await fetchBytes(urlIn(shown), key)).bytes.equals(image)).toBe(true);
    expect(bodyOf(await inline(unique_id))).toMatchObject(sent);
  });

  test("a gateway call is passed to its provider as it was sent, and is recorded with a reference", async () => {
    const messages = messagesWith(uriOf(newImage()));
    const answer = await prod.post("/api/chat/completions", { model: "gpt-4o", messages });
    expect(JSON.parse(gateway.upstream.requests.at(-1)?.body ?? "")).toMatchObject({ messages });
    const id = answer.headers.get("x-spanway-log-id");
    expect(urlIn(await retrieveSpan(prod, id))).toMatch(/^\/api\/media\//);
    expect(bodyOf(await inline(id))["prompt_messages"]).toEqual(messages);
  });

  test.each([
    ["HTML", "text/html", Buffer.from("<script>alert(1)</script>".repeat(4_000))],
    ["SVG", "image/svg+xml", Buffer.from("<svg><script>alert(1)</script></svg>".repeat(4_000))],
    ["a PDF", "application/pdf", Buffer.from("%PDF-1.7 ".repeat(10_000))],
  ])("%s is a download, never a page", async (_, type, bytes) => {
    const { unique_id } = await createSpan(prod, { prompt_messages: messagesWith(uriOf(bytes, type)) });
    const media = await fetchBytes(urlIn(await retrieveSpan(prod, unique_id)), key);
    expect([media.status, media.bytes.equals(bytes)]).toEqual([200, true]);
    expect(media.headers.get("content-type")).toBe("application/octet-stream");
    expect(media.headers.get("content-disposition")).toMatch(/^attachment/);
  });

  test("another organization does not see it, even if it names it in a span of its own", async () => {
    const { unique_id } = await createSpan(prod, { prompt_messages: messagesWith(uriOf(newImage())) });
    const url = urlIn(await retrieveSpan(prod, unique_id));
    const other = (await gateway.app.newOrganization()).prod;
    expect((await other.get(url)).status).toBe(404);
    const forged = await createSpan(other, { input: `please show ${url}` });
    await settle(other);
    expect((await other.get(url)).status).toBe(404);
    const read = await other.get(`/api/request-logs/${String(forged["unique_id"])}/?media=inline`);
    expect(bodyOf(read)["input"]).toBe(`please show ${url}`);
  });

  test("media of a shared trace is public while it is shared, and that of no other trace", async () => {
    const [image, hidden] = [newImage(), newImage()];
    const spanIn = (trace: string, picture: Buffer): Row => ({
      trace_unique_id: trace,
      span_unique_id: "s",
      log_type: "chat",
      prompt_messages: messagesWith(uriOf(picture)),
    });
    await storeSpans(prod, [spanIn("shown/1", image), spanIn("hidden", hidden)]);
    const share = async (is_public: boolean) =>
      bodyOf(await prod.request("PATCH", "/api/traces/shown%2F1/", { is_public }))["public_url"];
    const url = String(await share(true));
    const trace = await (await fetch(url)).text();
    expect(trace).not.toContain("/api/media/");
    const [path = ""] = /\/api\/[^/"]+\/traces\/shown%2F1\/media\/[0-9a-f]{64}\//.exec(trace) ?? [];
    const open = (at: string) => fetch(new URL(at, gateway.app.url));
    const media = await open(path);
    expect([
      media.status,
      media.headers.get("content-type"),
      Buffer.from(await media.arrayBuffer()).equals(image),
    ]).toEqual([200, "image/png", true]);
    expect(media.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect((await fetch(`${url}?media=inline`)).status).toBe(400);
    const id = (of: Buffer) => hash("sha256", uriOf(of), "hex");
    expect(path).toContain(id(image));
    for (const at of [
      path.replace(id(image), id(hidden)),
      path.replace("shown%2F1", "hidden"),
      path.replace("shown%2F1", "hidden").replace(id(image), id(hidden)),
      path.replace(id(image), "x"),
    ])
      expect([at, (await open(at)).status]).toEqual([at, 404]);
    await share(false);
    expect((await open(path)).status).toBe(404);
  });

  test("a span that log records complete later still has it", async () => {
    const image = newImage();
    const ids = newIds();
    const span = traceOf(
      {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": JSON.stringify([
          {
            role: "user",
            parts: [{ type: "blob", modality: "image", mime_type: "image/png", content: image.toString("base64") }],
          },
        ]),
      },
      ids,
    );
    const answer = eventRecord(ids, "gen_ai.client.inference.operation.details", {
      "gen_ai.output.messages": JSON.stringify([
        { role: "assistant", parts: [{ type: "text", content: "A cat." }], finish_reason: "stop" },
      ]),
    });
    const client = (await gateway.app.newOrganization()).prod;
    await sendBoth(client, "after its span", span, logsOf(answer));
    const row = await whenSpan(client, ids, ({ completion_message: message }) => message !== null);
    const [reference = ""] = /\/api\/media\/[0-9a-f]{64}\//.exec(JSON.stringify(row)) ?? [];
    expect((await client.get(reference)).status).toBe(200);
    const whole = await client.get(`/api/request-logs/${String(row["unique_id"])}/?media=inline`);
    expect(whole.text).toContain(image.toString("base64"));
  });

  test("media=inline is 413 if a text repeats a reference too often", async () => {
    const { unique_id } = await createSpan(prod, { input: uriOf(newImage(1_000_000)) });
    const reference = String((await retrieveSpan(prod, unique_id))["input"]);
    const many = await createSpan(prod, { input: `${reference} `.repeat(100) });
    await settle(prod);
    expect((await inline(many["unique_id"])).status).toBe(413);
    const few = await createSpan(prod, { input: `${reference} `.repeat(3) });
    await settle(prod);
    expect((await inline(few["unique_id"])).text.length).toBeGreaterThan(4_000_000);
  });

  test.each(["/api/media/x/", `/api/media/${"0".repeat(64)}/`, "/api/media/%2e%2e/"])("%s is 404", async (path) => {
    expect((await prod.get(path)).status).toBe(404);
  });

  test("media=something is 400", async () => {
    const { unique_id, trace_unique_id } = await createSpan(prod, { input: "x" });
    for (const path of [`request-logs/${String(unique_id)}`, `traces/${String(trace_unique_id)}`])
      expect((await prod.get(`/api/${path}/?media=something`)).status).toBe(400);
  });

  test("media=inline puts it back in a trace too, in every form of the tree, up to the same bound", async () => {
    const url = uriOf(newImage(1_000_000));
    const row = (span_unique_id: string, input: string): Row => ({
      trace_unique_id: "é inline",
      span_unique_id,
      input,
    });
    await storeSpans(prod, [row("s", `é ${url}`), { ...row("t", url), span_parent_id: "s" }]);
    const read = async (tree: string) => prod.get(`/api/traces/${encodeURIComponent("é inline")}/?tree=${tree}`);
    // The input of the root is beside the tree.
    for (const [tree, count] of Object.entries({ full: 3, flat: 3, slim: 1, table: 1 })) {
      expect([tree, (await read(tree)).text.split("/api/media/").length]).toEqual([tree, count + 1]);
      const whole = await read(`${tree}&media=inline`);
      expect([tree, whole.status, whole.text.split(url).length]).toEqual([tree, 200, count + 1]);
      expect(bodyOf(whole)["input"]).toBe(`é ${url}`);
    }
    const reference = String(bodyOf(await read("flat"))["input"]).slice(2);
    await storeSpans(prod, [row("u", `${reference} `.repeat(100))]);
    expect((await read("full&media=inline")).status).toBe(413);
  });

  test("it is deleted with the last trace that has it", async () => {
    const url = uriOf(newImage());
    const spanIn = (trace: string): Row => ({
      trace_unique_id: trace,
      span_unique_id: "s",
      custom_identifier: trace,
      prompt_messages: messagesWith(url),
    });
    await storeSpans(prod, [spanIn("first-media-trace"), spanIn("second-media-trace")]);
    const { results } = await prod.waitForSpans(1, {
      custom_identifier: { operator: "", value: ["first-media-trace"] },
    });
    const reference = urlIn(results[0] ?? {});
    // Repeating the reference does not keep the picture.
    await storeSpans(prod, [{ input: reference, trace_unique_id: "third", span_unique_id: "s" }]);
    await deleteTrace("first-media-trace");
    expect((await prod.get(reference)).status).toBe(200);
    await deleteTrace("second-media-trace");
    expect((await prod.get(reference)).status).toBe(404);
  });
});
