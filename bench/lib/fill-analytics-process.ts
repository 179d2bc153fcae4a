import { mkdirSync } from "node:fs";
import { openEmbeddedDatabase } from "../../server/src/storage/spans/drivers/embedded-database.ts";
import { migrateSpans } from "../../server/src/storage/spans/migrations/migrate.ts";

/**
 * Fills the table at argv[2] with argv[3] spans of one organization, spread evenly over the argv[4] days before argv[5] (ms): made by the engine
 * itself, a million in a few seconds. Traces of ten spans, five models, 5,000 customers of very unequal size.
 */
const [path = "", rowCount = "0", days = "0", end = "0"] = process.argv.slice(2);
const [rows, spanMs, endMs] = [Number(rowCount), Number(days) * 86_400_000, Number(end)];
mkdirSync(path, { recursive: true });
const database = openEmbeddedDatabase(path);
await migrateSpans(database);

const random = (salt: number) => `(cityHash64(number, ${salt}) / 18446744073709551616.)`;
const models = "['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-5', 'gemini-2.5-pro', 'o4-mini']";
const isCall = "number % 10 IN (1, 4, 7)";
const text = "repeat(hex(MD5(toString(intDiv(number, 7)))), 24)";

const columns: Record<string, string> = {
  organization_id: "'org_bench'",
  environment: `if(${random(1)} < 0.9, 'prod', 'test')`,
  timestamp: `fromUnixTimestamp64Nano(toInt64(${endMs - spanMs} * 1000000 + number * ${spanMs / rows} * 1000000), 'UTC')`,
  unique_id: "reinterpretAsUUID(MD5(concat('span ', toString(number))))",
  version: "number + 1",
  start_time: "timestamp - toIntervalMillisecond(toInt64(latency * 1000))",
  log_type: `multiIf(number % 10 = 0, 'agent', ${isCall}, 'chat', 'tool')`,
  model: `if(${isCall}, ${models}[1 + toUInt32(5 * pow(${random(2)}, 2))], '')`,
  provider_id: `if(${isCall}, ['openai', 'openai', 'anthropic', 'gemini', 'openai'][1 + toUInt32(5 * pow(${random(2)}, 2))], '')`,
  span_name: `multiIf(number % 10 = 0, 'support agent', ${isCall}, 'answer', concat('tool ', toString(cityHash64(number, 3) % 20)))`,
  span_workflow_name: "['support', 'booking', 'refund'][1 + intDiv(number, 10) % 3]",
  trace_unique_id: "lower(hex(MD5(toString(intDiv(number, 10)))))",
  span_unique_id: "leftPad(toString(number), 16, '0')",
  span_parent_id: "if(number % 10 = 0, '', leftPad(toString(number - number % 10), 16, '0'))",
  thread_identifier: "concat('thread_', toString(intDiv(number, 40)))",
  customer_identifier:
    "concat('user_', toString(toUInt32(5000 * pow(cityHash64(intDiv(number, 10)) / 18446744073709551616., 4))))",
  status: `if(${random(5)} < 0.03, 'failed', 'success')`,
  status_code: "if(status = 'failed', 500, 200)",
  latency: `round(pow(${random(6)}, 3) * 20, 3)`,
  time_to_first_token: `if(${isCall}, round(${random(7)}, 4), NULL)`,
  prompt_tokens: `if(${isCall}, cityHash64(number, 8) % 5000, NULL)`,
  completion_tokens: `if(${isCall}, cityHash64(number, 9) % 500, NULL)`,
  total_tokens: "prompt_tokens + completion_tokens",
  tokens_per_second: "completion_tokens / greatest(latency, 0.01)",
  cost: `if(${isCall}, ${random(10)} / 100, NULL)`,
  metadata: `concat('{"tenant":"t', toString(intDiv(number, 10) % 200), '","region":"eu"}')`,
  metadata_index: "map('tenant', concat('t', toString(intDiv(number, 10) % 200)), 'region', 'eu')",
  prompt_messages: `if(${isCall}, concat('[{"role":"user","content":"', ${text}, '"}]'), '')`,
  completion_message: `if(${isCall}, concat('{"role":"assistant","content":"', ${text}, '"}'), '')`,
};

const batch = 500_000;
for (let first = 0; first < rows; first += batch) {
  const select = Object.entries(columns).map(([name, sql]) => `${sql} AS ${name}`);
  const count = Math.min(batch, rows - first);
  await database.execute({
    name: "fill",
    sql: `INSERT INTO spans (${Object.keys(columns).join(", ")}) SELECT ${select.join(", ")} FROM numbers(${first}, ${count})`,
  });
  console.log(`  ${first + count} rows`);
}
// Months that take no more rows are merged within a day, and parts of one insert read three times as slowly as merged ones.
await database.execute({ name: "fill", sql: "OPTIMIZE TABLE spans FINAL SETTINGS optimize_throw_if_noop = 1" });
await database.close();
