import { expect, test } from "vitest";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import { createPassMemory } from "../drivers/pass-memory.ts";
import type { SpanPlace } from "../span-list.ts";
import { listSpans } from "./list-spans.ts";

const rowOf = (n: number): ResultRow => ({
  timestamp: `2026-01-01 00:00:0${n}.000000000`,
  unique_id: `span-${n}`,
  environment: "prod",
  version: "1",
});

/** A database in which spans come in or are deleted between counting and finding. */
function changing(counted: number, found: number): SpanDatabase {
  const unused = () => Promise.reject(new Error("a list only reads"));
  return {
    cluster: null,
    database: "spans",
    async query({ name }) {
      const rows = Array.from({ length: found }, (_, n) => rowOf(n));
      return { rows: name === "list_count" ? [{ count: `${counted}` }] : rows, rowsBeforeLimit: undefined };
    },
    stream: unused,
    queryRaw: unused,
    upkeep: unused,
    execute: unused,
    build: unused,
    passes: createPassMemory(),
    insert: unused,
    ping: unused,
    close: unused,
  };
}

const after: SpanPlace = {
  values: ["2026-01-01 00:00:00.000000000"],
  timestamp: "2026-01-01 00:00:00.000000000",
  unique_id: "span",
  environment: "prod",
};

test.each<[why: string, counted: number, found: number, page: number, count: number, place?: SpanPlace]>([
  ["the page does not have the first span yet", 1, 0, 1, 0],
  ["one more came in", 2, 3, 1, 3],
  ["one was deleted", 3, 2, 1, 2],
  ["a full page uses the count", 10, 4, 1, 10],
  ["the count is at least what was found", 2, 4, 1, 4],
  ["a last page includes the rows before it", 5, 2, 2, 5],
  ["a page past the end uses the count", 5, 0, 4, 5],
  ["a page after a position counts at least its own rows", 0, 2, 1, 2, after],
])("the count agrees with the page: %s", async (_why, counted, found, page, count, place) => {
  const answer = await listSpans(changing(counted, found), {
    scope: { organization_id: "org" },
    window: { fromNs: 0n, toNs: 2n ** 62n },
    sort: { field: "timestamp", descending: true },
    fields: [],
    page,
    pageSize: 3,
    after: place,
  });
  expect(answer.count).toBe(count);
});
