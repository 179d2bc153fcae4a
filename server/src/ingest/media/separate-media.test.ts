import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, test, afterAll, beforeAll } from "vitest";
import { domainLimits } from "../../domain/limits.ts";
import { putMediaBack } from "../../domain/media.ts";
import { openSpanStore } from "../../storage/spans/clickhouse-span-store.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { ingestLimits } from "../limits.ts";
import { separateMedia, withMediaApart } from "./separate-media.ts";

const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), randomBytes(60_000)]).toString("base64");
const wav = Buffer.concat([Buffer.from("RIFF1234WAVE"), randomBytes(60_000)]).toString("base64");
const bytes = randomBytes(60_000).toString("base64");
const short = randomBytes(30_000).toString("base64");

/** As Python's `base64.encodebytes` and Java's MIME encoder write it. */
const wrapped = (base64: string, { chars = 76, lineBreak = "\n" } = {}): string =>
  base64.replaceAll(new RegExp(`.{1,${chars}}`, "g"), (line) => line + lineBreak);
const url = (base64: string): string => base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const jpeg = Buffer.concat([Buffer.from("ffd8ffe0", "hex"), randomBytes(60_000)]).toString("base64");

const lineOf = (row: object) => Buffer.from(`${JSON.stringify({ organization_id: "org", ...row })}\n`);

/** Separated rows with their media put back. */
function restored({ ndjson, media }: ReturnType<typeof separateMedia>): string {
  const texts = new Map(media.map(({ id, text }) => [id, text]));
  const rows = ndjson.toString("utf8").replaceAll(/,"media_ids":\[[^\]]*\](?=\}\n)/g, "");
  return putMediaBack(rows, texts);
}

describe("media is separated from a row", () => {
  test.each([
    ["a data URI", { image_url: { url: `data:image/png;base64,${png}` } }, "image/png"],
    ["a data URI with parameters", { url: `data:audio/wav;codecs=1;base64,${wav}` }, "audio/wav"],
    ["a data URI within text", { content: `see ![x](data:image/svg+xml;base64,${bytes}) here` }, "image/svg+xml"],
    [
      "a data URI in JSON text in JSON text",
      { a: JSON.stringify(JSON.stringify({ u: `data:image/gif;base64,${bytes}` })) },
      "image/gif",
    ],
    ["Anthropic's source", { source: { type: "base64", media_type: "image/jpeg", data: bytes } }, "image/jpeg"],
    ["Anthropic's source, data first", { source: { data: bytes, media_type: "application/pdf" } }, "application/pdf"],
    ["Gemini's inline data", { inlineData: { mimeType: "video/mp4", data: bytes } }, "video/mp4"],
    ["OpenAI's audio", { input_audio: { data: bytes, format: "mp3" } }, "audio/mpeg"],
    ["Bedrock's bytes", { image: { format: "png", source: { bytes: png } } }, "image/png"],
    ["base64 known by its first bytes", { b64_json: png }, "image/png"],
    ["a source in JSON text", { input: JSON.stringify({ media_type: "image/webp", data: bytes }) }, "image/webp"],
    ["the URL-safe alphabet", { mime_type: "image/png", data: "-_".repeat(40_000) }, "image/png"],
  ])("%s", (_, row, mediaType) => {
    const line = lineOf({ prompt_messages: [row] });
    const separated = separateMedia(line);
    expect(separated.media.map(({ media_type }) => media_type)).toEqual([mediaType]);
    expect(separated.ndjson.length).toBeLessThan(1_000);
    expect(() => JSON.parse(separated.ndjson.toString()) as unknown).not.toThrow();
    expect(restored(separated)).toBe(line.toString());
  });

  test.each([
    ["short base64", { data: short, media_type: "image/png" }],
    ["a short data URI", { url: `data:image/png;base64,${short}` }],
    ["a long word", { content: "x".repeat(100_000) }],
    ["base64 of nothing known", { data: bytes }],
    ["base64 within a sentence", { content: `The key is ${png} and no more.` }],
    ["long prose", { content: "Words, and more words. ".repeat(10_000) }],
  ])("but %s stays in the row", (_, row) => {
    const line = lineOf(row);
    expect(separateMedia(line)).toEqual({ ndjson: line, media: [] });
  });

  test.each([
    ["of 76 characters, each with its end", { url: `data:image/png;base64,${wrapped(png)}` }, png],
    ["that the last has no end", { url: `data:image/png;base64,${wrapped(png).trimEnd()}` }, png],
    ["with CRLF", { url: `data:image/png;base64,${wrapped(png, { lineBreak: "\r\n" })}` }, png],
    ["of 64 characters", { media_type: "image/png", data: wrapped(png, { chars: 64 }) }, png],
    ["from the line after the head", { url: `data:image/png;base64,\n${wrapped(png)}` }, png],
    ["of which the first is shorter", { url: wrapped(`data:image/png;base64,${png}`) }, png],
    ["in text", { content: `see ![x](data:image/png;base64,${wrapped(png)}) here\n` }, png],
    ["in JSON text", { input: JSON.stringify({ u: `data:image/png;base64,${wrapped(png)}` }) }, png],
    [
      "in JSON text in JSON text",
      { a: JSON.stringify(JSON.stringify({ mime_type: "image/png", d: wrapped(png) })) },
      png,
    ],
    ["known by its first bytes", { b64_json: wrapped(png) }, png],
    ["known by its first bytes, after a line break", { b64_json: `\n${wrapped(png)}` }, png],
    ["one line and its end", { b64_json: `${png}\n` }, png],
    ["of the URL-safe alphabet", { url: `data:image/png;base64,${wrapped(url(png))}` }, png],
    ["none: the URL-safe alphabet in a data URI", { url: `data:image/png;base64,${url(png)}` }, png],
    ["none: the URL-safe alphabet, known by its first bytes", { b64_json: url(jpeg) }, jpeg],
  ])("O24 lines %s", (_, row, base64) => {
    const line = lineOf({ prompt_messages: [row] });
    const separated = separateMedia(line);
    expect(separated.media).toHaveLength(1);
    expect(separated.ndjson.length).toBeLessThan(1_000);
    const text = separated.media[0]?.text ?? "";
    expect(Buffer.from(text.slice(text.indexOf(",") + 1), "base64").toString("base64")).toBe(base64);
    expect(restored(separated)).toBe(line.toString());
  });

  test("O24 the same content at any depth of JSON has one id", () => {
    const data = `data:image/png;base64,${wrapped(png)}`;
    const row = { input: data, output: JSON.stringify({ data }), metadata: [JSON.stringify([JSON.stringify(data)])] };
    const separated = separateMedia(lineOf(row));
    expect(separated.media.map(({ text }) => text)).toEqual([data]);
    expect(restored(separated)).toBe(lineOf(row).toString());
  });

  test("O24 text after a data URI is not part of it", () => {
    for (const base64 of [png, wrapped(png).trimEnd()]) {
      const line = lineOf({ content: `data:image/png;base64,${base64}\nThe next line.` });
      const separated = separateMedia(line);
      expect(separated.media).toHaveLength(1);
      expect(restored(separated)).toBe(line.toString());
    }
  });

  test.each([
    [
      "within text that only contains JSON",
      { content: `Answer: ${JSON.stringify({ u: `data:a/b;base64,${wrapped(png)}` })}` },
    ],
    ["within JSON with raw line breaks", { content: `{"u":"data:a/b;base64,${wrapped(png)}"}` }],
    ["of words", { content: "word\n".repeat(40_000) }],
    ["of base64 of nothing known", { data: wrapped(bytes) }],
    ["within a sentence", { content: `The key is ${wrapped(png)} and no more.` }],
  ])("O24 but lines %s stay in the row", (_, row) => {
    const line = lineOf(row);
    expect(separateMedia(line)).toEqual({ ndjson: line, media: [] });
  });

  test("each content is stored once per organization, and every row lists its own", () => {
    const image = { url: `data:image/png;base64,${png}` };
    const rows = [
      lineOf({ input: image, output: image }),
      lineOf({ input: "none" }),
      Buffer.from(`${JSON.stringify({ is_resend: 1, organization_id: "other", input: image })}\n`),
    ];
    const { ndjson, media } = separateMedia(Buffer.concat(rows));
    expect(media.map(({ organization_id }) => organization_id)).toEqual(["org", "other"]);
    const named = ndjson
      .toString()
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { media_ids?: string[] }).media_ids);
    expect(named).toEqual([[media[0]?.id], undefined, [media[0]?.id]]);
  });

  test("a reference that a sender wrote is text", () => {
    const input = `/api/media/${"a".repeat(64)}/`;
    const line = lineOf({ input });
    expect(separateMedia(line)).toEqual({ ndjson: line, media: [] });
    const { ndjson, media } = separateMedia(lineOf({ input, output: { url: `data:image/png;base64,${png}` } }));
    expect(JSON.parse(ndjson.toString())).toMatchObject({ input, media_ids: [media[0]?.id] });
  });

  test("any mix of texts and media is restored exactly", () => {
    const media = fc.constantFrom(
      `data:image/png;base64,${png}`,
      `data:x/y;base64,${bytes}`,
      png,
      wrapped(png),
      url(jpeg),
      short,
    );
    const texts = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      media,
      fc.tuple(fc.string(), media).map((pair) => pair.join("")),
    );
    const value = fc.oneof(
      texts,
      fc.record({ media_type: fc.constant("image/png"), data: media }),
      texts.map((text) => JSON.stringify({ text })),
    );
    fc.assert(
      fc.property(
        fc.array(fc.dictionary(fc.string(), value, { maxKeys: 4 }), { minLength: 1, maxLength: 4 }),
        (rows) => {
          const payload = Buffer.concat(rows.map((row) => lineOf({ rest: row })));
          expect(restored(separateMedia(payload))).toBe(payload.toString("utf8"));
        },
      ),
      { numRuns: 60 },
    );
  });
});

const path = mkdtempSync(join(tmpdir(), "spanway-store-media-"));
let store: SpanStore;
beforeAll(async () => {
  store = openSpanStore({ kind: "chdb", path });
  await store.migrate();
});
afterAll(async () => {
  await store.close();
  rmSync(path, { recursive: true, force: true });
});

test("media of rows that the store refused for hours still exists when it accepts them", async () => {
  let isTaken = false;
  let nowMs = 0;
  const refusing: Pick<SpanStore, "insert"> = {
    insert: async (batch) => {
      if (batch.table === undefined && !isTaken) throw new Error("too many parts");
      await store.insert(batch);
    },
  };
  const apart = withMediaApart(refusing, () => nowMs);
  const image = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), randomBytes(ingestLimits.mediaChars)]);
  const row = {
    organization_id: "org",
    environment: "prod",
    timestamp: "2026-03-01 10:00:00.000000000",
    unique_id: randomUUID(),
    version: "1",
    input: `data:image/png;base64,${image.toString("base64")}`,
  };
  const batch = { ndjson: Buffer.from(`${JSON.stringify(row)}\n`), rows: 1, token: "node:1-1" };
  await expect(apart.insert(batch)).rejects.toThrow("too many parts");
  await sleep(20);
  const cutoffMs = Date.now();
  await sleep(20);
  nowMs += domainLimits.mediaUnusedMs;
  await expect(apart.insert(batch)).rejects.toThrow("too many parts");
  await store.sweepMedia(cutoffMs);
  // Sweeping runs in the background.
  await sleep(1_000);
  isTaken = true;
  await apart.insert(batch);
  const scope = { organization_id: "org" };
  const span = await store.retrieveSpan(scope, row.unique_id);
  const [, id = ""] = /^\/api\/media\/(\w+)\/$/.exec(String(span?.["input"])) ?? [];
  const media = await store.readMedia(scope, [id]);
  expect(media.map(({ text }) => text)).toEqual([row.input]);
});
