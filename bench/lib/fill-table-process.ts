import { spansLocation } from "../../server/src/config/locations.ts";
import { openSpanStore } from "../../server/src/storage/spans/clickhouse-span-store.ts";
import { realTexts } from "./real-texts.ts";
import { generateSpans } from "./span-generator.ts";

/** Fills the table at the URL argv[2] with argv[3] spans of the last 30 days, of two organizations. */
const [url = "", rows = "0"] = process.argv.slice(2);
const store = openSpanStore(spansLocation(url));
await store.migrate();
const toMs = Date.now();
const chunks = generateSpans({
  texts: realTexts(),
  rows: Number(rows),
  fromMs: toMs - 30 * 86_400_000,
  toMs,
  organizationIds: ["org_bench", "org_other"],
  rowsPerChunk: 10_000,
});
let stored = 0;
for (const chunk of chunks) {
  await store.insert({ ...chunk, token: `fill-${stored}` });
  stored += chunk.rows;
  if (stored % 200_000 === 0) console.log(`  ${stored} rows`);
}
await store.close();
