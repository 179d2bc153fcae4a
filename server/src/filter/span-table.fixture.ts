import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@clickhouse/client";
import { createChdbConnection } from "chdb/connection";
import type { SpanColumn, SpanRow } from "../domain/span.ts";
import { spanColumns } from "../domain/span.ts";
import type { Filter } from "./ast.ts";
import type { Catalogue } from "./catalogue.ts";
import { toClickHouse } from "./to-clickhouse.ts";

const columnTypes = {
  text: "String",
  json: "String",
  uuid: "UUID",
  time: "DateTime64(9, 'UTC')",
  integer: "Nullable(Int64)",
  number: "Nullable(Float64)",
  boolean: "Nullable(Bool)",
  map: "Map(LowCardinality(String), String)",
} as const;
const specialTypes: Partial<Record<SpanColumn, string>> = {
  environment: "Enum8('prod' = 1, 'test' = 2)",
  model: "LowCardinality(String)",
};

type ClientConfig = NonNullable<Parameters<typeof createClient>[0]>;

/** A table with the columns of spans in its own engine; one per process. */
export async function openSpanTable(catalogue: Catalogue<SpanRow>) {
  const directory = mkdtempSync(join(tmpdir(), "span-table-"));
  // Two packages each declare what is one class at run time.
  const connection = createChdbConnection({ path: directory }) as unknown as NonNullable<ClientConfig["connection"]>;
  const client = createClient({ connection });
  const columns = Object.entries(spanColumns).map(
    ([name, kind]) => `${name} ${specialTypes[name as SpanColumn] ?? columnTypes[kind]}`,
  );
  await client.command({ query: `CREATE TABLE spans (${columns.join(", ")}) ENGINE = MergeTree ORDER BY unique_id` });

  await client.command({
    query: `CREATE TABLE scores (organization_id String, unique_id UUID, evaluator_id String, evaluator_slug String, text String)
      ENGINE = ReplacingMergeTree ORDER BY (organization_id, unique_id, evaluator_id)`,
  });

  return {
    client,
    async insertScores(rows: ReadonlyArray<Record<string, string | undefined>>): Promise<void> {
      await client.insert({ table: "scores", values: rows, format: "JSONEachRow" });
    },
    async insert(rows: readonly SpanRow[]): Promise<void> {
      await client.insert({ table: "spans", values: rows, format: "JSONEachRow" });
    },
    /**
     * The result of each filter by unique_id; anything except 0 and 1 would be a NULL, which a negation does not
     * invert.
     */
    async verdicts(
      filters: readonly Filter[],
      of = { catalogue, organizationId: "org" },
    ): Promise<Map<string, unknown[]>> {
      const compiled = filters.map((tree, index) =>
        toClickHouse(tree, of.catalogue, { prefix: `f${index}_`, table: "s" }),
      );
      const verdicts = compiled.map(({ sql }) => `toInt8(${sql})`).join(", ");
      const result = await client.query({
        query: `SELECT unique_id, [${verdicts}] AS verdicts FROM spans AS s WHERE organization_id = {organization_id:String}`,
        query_params: Object.assign({ organization_id: of.organizationId }, ...compiled.map(({ params }) => params)),
        format: "JSONEachRow",
      });
      const rows = await result.json<{ unique_id: string; verdicts: unknown[] }>();
      return new Map(rows.map((row) => [row.unique_id, row.verdicts]));
    },
    /** The span names that a filter matches as a WHERE clause, in order. */
    async find(filter: Filter): Promise<string[]> {
      const { sql, params } = toClickHouse(filter, catalogue);
      const query = `SELECT span_name FROM spans WHERE ${sql} ORDER BY span_name`;
      const result = await client.query({ query, query_params: params, format: "JSONEachRow" });
      return (await result.json<{ span_name: string }>()).map((row) => row.span_name);
    },
    async close(): Promise<void> {
      await client.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export type SpanTable = Awaited<ReturnType<typeof openSpanTable>>;
