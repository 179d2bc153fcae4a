import { Session } from "chdb";
import { spansLocation } from "../../server/src/config/locations.ts";
import type { SpanBatch } from "../../server/src/storage/spans/span-store.ts";
import { createPriceBook } from "../../server/src/pricing/price-book.ts";
import { createNestedJson } from "../../server/src/validation/field-readers.ts";
import { normalizeSpan } from "../../server/src/ingest/normalize/normalize.ts";
import { openSpanStore } from "../../server/src/storage/spans/clickhouse-span-store.ts";
import { insertSettings } from "../../server/src/storage/spans/drivers/span-database.ts";

/** Rows per insert: the size at which the engine parses on all cores. */
const rowsPerInsert = 10_000;

const origin = {
  organization_id: "org_bench",
  environment: "prod" as const,
  organization_key_id: "key",
  organization_key_name: "key",
  log_method: "logging_api",
};

process.on("message", (bodies: Buffer[]) => void insertAll(bodies.map((body) => Buffer.from(body))));

async function insertAll(bodies: readonly Buffer[]): Promise<void> {
  const batches = readyMade(bodies);
  const location = spansLocation(process.argv[2] ?? "");
  const store = openSpanStore(location);
  await store.migrate();
  const insert = location.kind === "chdb" ? insertByPackage(location.path) : (batch: SpanBatch) => store.insert(batch);
  const started = performance.now();
  for (const [index, ndjson] of batches.entries())
    await insert({ ndjson, rows: rowsPerInsert, token: `direct-${index}` });
  const seconds = (performance.now() - started) / 1000;
  await store.close();
  process.send?.({ seconds });
  process.disconnect();
}

/** As a user of the engine would insert such rows, by the package alone. */
function insertByPackage(path: string): (batch: SpanBatch) => Promise<void> {
  const session = new Session(path);
  return async ({ ndjson, token }) => {
    await session.insert({ table: "spans", values: ndjson, format: "JSONEachRow", settings: insertSettings(token) });
  };
}

function readyMade(bodies: readonly Buffer[]): Buffer[] {
  const prices = createPriceBook({ maxModels: 100 });
  const nested = createNestedJson(Number.MAX_SAFE_INTEGER);
  let receivedNs = BigInt(Date.now()) * 1_000_000n;
  const lines = bodies.flatMap((body) =>
    (JSON.parse(body.toString()) as { logs: unknown[] }).logs.map((log) => {
      receivedNs += 1n;
      const result = normalizeSpan(log, origin, { receivedNs, prices, nested });
      if (!result.ok) throw new Error(JSON.stringify(result.errors));
      return JSON.stringify(result.span.row);
    }),
  );
  return Array.from({ length: Math.ceil(lines.length / rowsPerInsert) }, (_, batch) => {
    const part = lines.slice(batch * rowsPerInsert, (batch + 1) * rowsPerInsert);
    return Buffer.from(`${part.join("\n")}\n`);
  });
}
