import { readConversations } from "./demo/conversation.ts";
import { runDemo } from "./demo/run-demo.ts";
import { DemoError, sendSpans, untilVisible, type Target } from "./demo/send-spans.ts";
import { review } from "./demo/reviews.ts";
import { spreadHours } from "./demo/spread.ts";
import { toSpans } from "./demo/to-spans.ts";
import { travelDeskSpans } from "./demo/travel-desk.ts";
import { watch } from "./demo/watches.ts";

const usage = `Loads two weeks of spans into a running server: recorded conversations of an airline's agent
(examples/airline-agent), and made-up ones of a travel desk with several models and customers, feedback and scores. Also creates
budgets, two evaluators, two alerts and a condition.

  npm run demo -- [--url URL] [--key KEY]

  --url  the server's address     (default: SPANWAY_URL, else port SPANWAY_PORT or 8787 of this machine)
  --key  an API key of the server (default: SPANWAY_PROD_KEY); npm start printed one at the first start

Running it again makes no new spans; it moves the old ones to the last 14 days.`;

async function run(target: Target): Promise<void> {
  const conversations = readConversations(new URL("../examples/airline-agent/airline-agent.jsonl", import.meta.url));
  const nowMs = Date.now();
  const spans = [...travelDeskSpans(nowMs), ...toSpans(conversations, nowMs)];
  const sentAtMs = performance.now();
  const { accepted, refused, requests } = await sendSpans(target, spans, (seconds) =>
    console.log(`The server limits the rate; continuing in ${seconds} s.`),
  );
  const count = (type: string): number => spans.filter(({ log_type }) => log_type === type).length;
  const traces = spans.filter(({ span_parent_id: parent }) => parent === undefined).length;
  const customers = new Set(spans.map(({ customer_identifier }) => customer_identifier)).size;
  console.log(
    `Sent ${accepted} spans in ${requests} requests (${((performance.now() - sentAtMs) / 1000).toFixed(1)} s): ` +
      `${traces} traces, ${count("chat")} model calls, ${count("tool")} tool calls, ${customers} customers.`,
  );
  if (refused.length > 0) throw new DemoError(`${refused.length} were rejected, the first with: ${refused[0]?.error}`);
  await untilVisible(target, spans);
  const { reviewed } = await review(target, spans);
  console.log(`Scored ${reviewed} answers.`);
  const { alerts, condition } = await watch(target);
  console.log(`Created the alerts "${alerts.join('" and "')}" and the condition "${condition}", unless they existed.`);
  console.log(nextSteps(target.url, new Date(nowMs - spreadHours * 3_600_000).toISOString().slice(0, 10)));
}

function nextSteps(url: string, since: string): string {
  const base = url.replace(/\/$/, "");
  const call = (path: string, body: string): string =>
    `  curl -s '${base}/api/request-logs/${path}' -H "Authorization: Bearer $SPANWAY_PROD_KEY" \\\n` +
    `    -H 'content-type: application/json' -d '${body}'`;
  const errors = '{"filters": {"log_type": {"value": ["tool"]}, "status": {"value": ["error"]}}}';
  return `
The tool calls that failed:

${call(`list/?start_time=${since}&include_fields=span_name,error_message,customer_identifier&page_size=3`, errors)}

What it all cost, then day by day for the customers that cost most:

${call(`summary/?start_time=${since}`, "{}")}
${call(`timeseries/?start_time=${since}&interval=1d&group_by=customer_identifier&metrics=total_cost&top=3`, "{}")}

The API reference is at ${base}/docs.`;
}

await runDemo(usage, run);
