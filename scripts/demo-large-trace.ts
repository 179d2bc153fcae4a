import { largeTrace } from "./demo/large-trace.ts";
import { runDemo } from "./demo/run-demo.ts";
import { DemoError, type Target } from "./demo/send-spans.ts";

const usage = `Sends one very large trace of an agent to a running server, with spans that are odd in every way.

  npm run demo:large -- [--url URL] [--key KEY] [--spans 45000] [--levels 5000]

  --url     the server's address     (default: SPANWAY_URL, else port SPANWAY_PORT or 8787 of this machine)
  --key     an API key of the server (default: SPANWAY_PROD_KEY); npm start printed one at the first start
  --spans   how many spans it has
  --levels  how deep its deepest branch is`;

const spansPerRequest = 5_000;

async function run({ url, key }: Target, { spans: count, levels }: { spans: number; levels: number }): Promise<void> {
  const trace = `large-${count}-${levels}`;
  const spans = largeTrace({ trace, spans: count, levels, endMs: Date.now() });
  for (let start = 0; start < spans.length; start += spansPerRequest) {
    const response = await fetch(new URL("/api/v1/traces/ingest", url), {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(spans.slice(start, start + spansPerRequest)),
    });
    const answer = await response.text();
    if (!response.ok) throw new DemoError(`${url} answered ${response.status}: ${answer.slice(0, 500)}`);
  }
  console.log(`Sent ${spans.length} spans: ${new URL(`/traces/${trace}`, url).href}`);
}

await runDemo(usage, run, { spans: 45_000, levels: 5_000 });
