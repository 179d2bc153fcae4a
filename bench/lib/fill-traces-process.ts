import { createHash, randomUUID } from "node:crypto";
import { createSpanCounter } from "../../server/src/counting/span-counter.ts";
import { createErasedCustomers } from "../../server/src/ingest/accept/erased-customers.ts";
import { openSpanStore } from "../../server/src/storage/spans/clickhouse-span-store.ts";
import { realTexts } from "./real-texts.ts";
import { columnTime } from "./span-generator.ts";

/**
 * Fills the table at argv[2] with argv[3] spans of one hour in traces of ten, and with two large traces. With argv[4] =
 * 1 each agent restates the usage of its calls and is the only one to name the customer, and counted usage is stored
 * after each insert, as by a server.
 */
const [path = "", rowCount = "0", wrapped = "0"] = process.argv.slice(2);
const store = openSpanStore({ kind: "chdb", path });
await store.migrate();
const isWrapped = wrapped === "1";
const texts = realTexts();
const hourMs = Date.UTC(2026, 4, 5, 5);

type Span = { trace: string; id: string; parent: string; type: string; startMs: number; endMs: number };

function row({ trace, id, parent, type, startMs, endMs }: Span, index: number): object {
  const hex = createHash("md5").update(`${trace}/${id}`).digest("hex");
  const isCall = type === "chat" || (type === "agent" && isWrapped);
  const calls = type === "agent" ? 3 : 1;
  const text = (n: number) => `${texts[(index * 7 + n) % texts.length]?.slice(0, 900) ?? ""} Case ${index % 4000}.`;
  return {
    organization_id: "org_bench",
    environment: "prod",
    timestamp: columnTime(endMs, index % 1_000_000),
    unique_id: `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`,
    version: "1",
    start_time: columnTime(startMs),
    received_at: columnTime(endMs),
    log_type: type,
    model: type === "chat" ? "gpt-4o" : "",
    span_name: type,
    span_workflow_name: "support",
    trace_unique_id: trace,
    span_unique_id: id,
    span_parent_id: parent,
    thread_identifier: `thread_${index % 9000}`,
    customer_identifier: isWrapped && parent !== "" ? "" : `user_${index % 5000}`,
    status: index % 70 === 0 ? "failed" : "success",
    status_code: 200,
    latency: (endMs - startMs) / 1000,
    ...(isCall && {
      prompt_tokens: 900 * calls,
      completion_tokens: 90 * calls,
      total_tokens: 990 * calls,
      cost: 0.01 * calls,
    }),
    metadata: { tenant: `t${index % 200}` },
    metadata_index: { tenant: `t${index % 200}` },
    ...(type === "chat"
      ? {
          prompt_messages: [{ role: "user", content: text(0) }],
          completion_message: { role: "assistant", content: text(1) },
        }
      : { input: text(2), output: text(3) }),
  };
}

function spansOfTrace(trace: string, startMs: number): Span[] {
  const id = (name: string) => createHash("md5").update(`${trace}/${name}`).digest("hex").slice(0, 16);
  const root = { trace, id: id("root"), parent: "", type: "agent", startMs, endMs: startMs + 3500 };
  const calls = [0, 1, 2].flatMap((call) => {
    const callMs = startMs + call * 1000;
    const chat = { trace, id: id(`call ${call}`), parent: root.id, type: "chat", startMs: callMs, endMs: callMs + 900 };
    const tools = [0, 1].map((tool) => ({
      ...chat,
      id: id(`tool ${call} ${tool}`),
      parent: chat.id,
      type: "tool",
      endMs: callMs + 100,
    }));
    return [chat, ...tools];
  });
  return [root, ...calls];
}

/** A tree of `count` spans, with ten children each. */
function largeTrace(trace: string, count: number): Span[] {
  return Array.from({ length: count }, (_, n) => {
    const startMs = hourMs + 7_200_000 + n;
    const parent = n === 0 ? "" : `s${Math.floor((n - 1) / 10)}`;
    return { trace, id: `s${n}`, parent, type: n % 3 === 0 ? "chat" : "tool", startMs, endMs: startMs + 1000 };
  });
}

const counter = createSpanCounter({
  store,
  memory: { isComplete: false, hasHistory: true, mayHaveEarlier: () => true },
  erasedCustomers: createErasedCustomers(),
  now: Date.now,
});
let stored = 0;
async function insert(spans: readonly Span[]): Promise<void> {
  const lines = spans.map((span, n) => JSON.stringify(row(span, stored + n)));
  await store.insert({ ndjson: Buffer.from(`${lines.join("\n")}\n`), rows: lines.length, token: randomUUID() });
  stored += lines.length;
  if (!isWrapped) return;
  const traces = [...new Set(spans.map(({ trace }) => trace))];
  await counter.recount(
    "org_bench",
    traces.map((trace_unique_id) => ({ environment: "prod", trace_unique_id })),
  );
}

const traceCount = Math.floor(Number(rowCount) / 10);
for (let first = 0; first < traceCount; first += 1000) {
  const traces = Array.from({ length: Math.min(1000, traceCount - first) }, (_, n) => first + n);
  const spans = traces.flatMap((n) =>
    spansOfTrace(
      createHash("md5").update(`trace ${n}`).digest("hex"),
      hourMs + Math.floor((n / traceCount) * 3_590_000),
    ),
  );
  await insert(spans);
}
await insert(largeTrace("thousand", 1000));
const large = largeTrace("large", 45_000);
for (let start = 0; start < large.length; start += 5000) await insert(large.slice(start, start + 5000));
await store.close();
