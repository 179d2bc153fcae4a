import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SpanRow } from "../../domain/span.ts";
import { ingestLimits } from "../limits.ts";
import { openSpanStore } from "../../storage/spans/clickhouse-span-store.ts";
import { newOrganization, spanRow } from "../../storage/spans/contract/span-fixtures.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { createReadBack } from "./read-back.ts";

const path = mkdtempSync(join(tmpdir(), "spanway-read-back-"));
let spans: SpanStore;
beforeAll(async () => {
  spans = openSpanStore({ kind: "chdb", path });
  await spans.migrate();
});
afterAll(async () => {
  await spans.close();
  await rm(path, { recursive: true, force: true });
});

const receivedAt = (ms: number): string => `2026-05-05 05:05:05.${String(ms).padStart(3, "0")}000000`;
const never = new AbortController().signal;

async function insert(rows: readonly object[]): Promise<void> {
  const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await spans.insert({ ndjson, rows: rows.length, token: crypto.randomUUID() });
}

async function readAll(readBack: ReturnType<typeof createReadBack>, organizationId: string): Promise<SpanRow[]> {
  const rows: SpanRow[] = [];
  for await (const page of readBack({ organizationId, from: receivedAt(2), to: receivedAt(4) }, never)) {
    rows.push(...page);
  }
  return rows;
}

test("reads all spans of a period, both ends inclusive, of one organization", async () => {
  const organization = newOrganization();
  const metadata = { a: 1 };
  const row = (ms: number) => spanRow(organization, { received_at: receivedAt(ms), input: "in", metadata });
  const rows = [1, 2, 3, 4, 5].map(row);
  await insert([...rows, spanRow(newOrganization(), { received_at: receivedAt(3) })]);
  const read = await readAll(createReadBack(spans), organization);
  expect(read.map(({ unique_id }) => unique_id).toSorted()).toEqual(
    rows
      .slice(1, 4)
      .map(({ unique_id }) => unique_id)
      .toSorted(),
  );
  expect(read[0]).toMatchObject({
    organization_id: organization,
    environment: "prod",
    version: "1",
    input: "in",
    metadata: '{"a":1}',
    received_at: expect.stringMatching(/^2026-05-05 05:05:05\./),
  });
});

test("reads several pages, and reads them again if spans were removed meanwhile", async () => {
  const organization = newOrganization();
  const count = ingestLimits.fanOutBatchRows + 20;
  await insert(Array.from({ length: count }, () => spanRow(organization, { received_at: receivedAt(3) })));
  let reads = 0;
  const shifting: Pick<SpanStore, "listSpans"> = {
    async listSpans(query, signal) {
      reads += 1;
      const listed = await spans.listSpans(query, signal);
      // As if a span had been deleted between the first page and the second.
      return reads === 1 ? { ...listed, count: listed.count + 1 } : listed;
    },
  };
  const ids = (rows: readonly SpanRow[]): Set<string> => new Set(rows.map(({ unique_id }) => unique_id));
  expect(ids(await readAll(createReadBack(spans), organization)).size).toBe(count);
  expect(ids(await readAll(createReadBack(shifting), organization)).size).toBe(count);
  expect(reads).toBe(4);
});
