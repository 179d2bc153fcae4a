import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { domainLimits } from "../../domain/limits.ts";
import { ingestLimits } from "../limits.ts";
import { openSpanStore } from "../../storage/spans/drivers/open-span-store.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { withMediaApart } from "./store-media.ts";

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
