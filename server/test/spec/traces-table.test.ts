import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { storageLimits } from "../../src/storage/limits.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Row, TestClient } from "../support/test-client.ts";
import { getTrace, ingest, retrieveTrace, traceSpan, type Node } from "../support/traces.ts";

let app: TestApp;
let prod: TestClient;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
});
afterAll(() => app.stop());

type Table = { members: string[]; parents: (number | null)[]; rows: unknown[][] };

async function readTable(id: string, query = ""): Promise<Row & { span_table: Table }> {
  const answer = await getTrace(prod, id, `tree=table&${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json as Row & { span_table: Table };
}

/** The nodes of a tree without null members, each before its children, with the index of its parent. */
function flatten(roots: readonly Node[]): { spans: Row[]; parents: (number | null)[] } {
  const [spans, parents]: [Row[], (number | null)[]] = [[], []];
  const list = (nodes: readonly Node[], parent: number | null): void => {
    for (const { children, end_time: _end, storage_object_key: _key, ...span } of nodes) {
      parents.push(parent);
      list(children, spans.push(span) - 1);
    }
  };
  list(roots, null);
  return { spans, parents };
}

function asSpans({ members, rows }: Table): Row[] {
  const isStated = (name: string, value: unknown) => value !== null && !(name === "is_pinned" && value === false);
  return rows.map((row) =>
    Object.fromEntries(row.map((value, at) => [members[at] ?? "", value] as const).filter(([n, v]) => isStated(n, v))),
  );
}

describe("a trace with tree=table", () => {
  test.each([
    ["of few spans", 12],
    ["of more than are read at once", storageLimits.smallTraceRows + 10],
  ])("%s has the spans of its slim tree in the order of the tree", async (_name, count) => {
    const id = `table-${count}`;
    const spans = Array.from({ length: count }, (_, n) =>
      traceSpan(id, `s${n}`, n === 0 ? null : n % 5 === 0 ? "gone" : `s${Math.floor(n / 3)}`, n, {
        span_name: `step “${n % 7}”`,
        metadata: { k: n },
        customer_identifier: "anna",
        ...(n % 4 === 0 && { log_type: "chat", prompt_tokens: n, cost: n / 8 }),
      }),
    );
    // A cycle, which the tree breaks.
    spans.push(traceSpan(id, "a", "b", 1), traceSpan(id, "b", "a", 2));
    await ingest(prod, spans);
    const { span_tree: tree, ...slim } = await retrieveTrace(prod, id, "tree=slim");
    const { span_table: table, ...rest } = await readTable(id);
    expect(rest).toEqual(slim);
    const flat = flatten(tree);
    expect(flat.spans).toHaveLength(count + 2);
    expect(table.parents).toEqual(flat.parents);
    expect(asSpans(table)).toEqual(flat.spans);
  });

  test("shows the members named in include_fields, in that order, out of those of a slim tree", async () => {
    await ingest(prod, [traceSpan("some", "root", null, 0, { input: "i", metadata: { k: 1 } })]);
    const { span_table: table } = await readTable(
      "some",
      "include_fields=span_name,cost,input,metadata,span_unique_id",
    );
    expect(table).toEqual({
      members: ["span_name", "cost", "span_unique_id"],
      parents: [null],
      rows: [["root", null, "root"]],
    });
  });
});
