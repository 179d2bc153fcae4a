import { readConversations } from "./demo/conversation.ts";
import { runDemo } from "./demo/run-demo.ts";
import { DemoError, sendSpans, untilVisible, type Target } from "./demo/send-spans.ts";
import { toSpans } from "./demo/to-spans.ts";

const usage = `Loads the example conversations (examples/airline-agent) into a running server as spans.

  npm run demo -- [--url URL] [--key KEY]

  --url  the server's address     (default: SPANWAY_URL, else port SPANWAY_PORT or 8787 of this machine)
  --key  an API key of the server (default: SPANWAY_PROD_KEY); npm start printed one at the first start

Running it again makes no new spans; it moves the old ones to the last half hour.`;

async function run(target: Target): Promise<void> {
  const conversations = readConversations(new URL("../examples/airline-agent/airline-agent.jsonl", import.meta.url));
  const spans = toSpans(conversations, Date.now());
  const sentAtMs = performance.now();
  const { accepted, refused, requests } = await sendSpans(target, spans, (seconds) =>
    console.log(`The server asks to slow down; going on in ${seconds} s.`),
  );
  const count = (type: string): number => spans.filter(({ log_type }) => log_type === type).length;
  const customers = new Set(spans.map(({ customer_identifier }) => customer_identifier)).size;
  console.log(
    `Sent ${accepted} spans in ${requests} requests (${((performance.now() - sentAtMs) / 1000).toFixed(1)} s): ` +
      `${count("agent")} traces, ${count("chat")} model calls, ${count("tool")} tool calls, ${customers} customers.`,
  );
  if (refused.length > 0) throw new DemoError(`${refused.length} were refused, the first with: ${refused[0]?.error}`);
  await untilVisible(target, spans);
  console.log(nextSteps(target.url));
}

function nextSteps(url: string): string {
  const base = url.replace(/\/$/, "");
  const call = (path: string, body: string): string =>
    `  curl -s '${base}/api/request-logs/${path}' -H "Authorization: Bearer $SPANWAY_PROD_KEY" \\\n` +
    `    -H 'content-type: application/json' -d '${body}'`;
  const errors = '{"filters": {"log_type": {"value": ["tool"]}, "status": {"value": ["error"]}}}';
  return `
The tool calls that failed:

${call("list/?include_fields=span_name,error_message,customer_identifier&page_size=3", errors)}

What the agent did and what it cost, then the same by customer:

${call("summary/", "{}")}
${call("groups/?group_by=customer_identifier&sort_by=-total_cost&page_size=3", "{}")}

The API reference is at ${base}/docs.`;
}

await runDemo(usage, run);
