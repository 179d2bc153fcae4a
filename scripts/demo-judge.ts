import { setTimeout as sleep } from "node:timers/promises";
import { createApi, type Api } from "./demo-judge/api.ts";
import { startModel } from "./demo-judge/model.ts";
import { startReceiver, type Delivered } from "./demo-judge/receiver.ts";
import { setUp, type Setup } from "./demo-judge/set-up.ts";
import { runDemo } from "./demo/run-demo.ts";
import { DemoError, type Target } from "./demo/send-spans.ts";

const usage = `Calls a model through a running server, has the answer judged, and receives the webhook that tells the score.

  npm run demo:judge -- [--url URL] [--key KEY]

  --url  the server's address     (default: SPANWAY_URL, else port SPANWAY_PORT or 8787 of this machine)
  --key  an API key of the server (default: SPANWAY_PROD_KEY); npm start printed one at the first start

The model and the receiver are this script's own, on 127.0.0.1, so the server must be allowed to call that:

  SPANWAY_ALLOW_PRIVATE_UPSTREAMS=127.0.0.1 npm start

What it makes is removed at its end, but for the evaluator, whose scores stay.`;

const patienceMs = 30_000;
const question = "My flight was cancelled. What can I do?";

async function run(target: Target): Promise<void> {
  const api = createApi(target);
  const [model, receiver] = [await startModel(), await startReceiver()];
  try {
    const setup = await setUp(api, { modelUrl: model.url, webhookUrl: receiver.url });
    try {
      await judgeOneCall(api, setup, receiver.delivered);
    } finally {
      await setup.remove();
    }
  } finally {
    model.close();
    receiver.close();
  }
}

async function judgeOneCall(api: Api, setup: Setup, delivered: readonly Delivered[]): Promise<void> {
  console.log(`Made the evaluator ${setup.evaluatorSlug}, an automation that runs it, and a webhook.`);
  const { logId, content } = await api.chat({
    model: setup.supportModel,
    messages: [{ role: "user", content: question }],
    customer_identifier: "acme",
    metadata: { demo: "judge" },
  });
  console.log(`\nThe customer asked: ${question}\nThe model answered:  ${content}`);

  const event = await within(patienceMs, () => delivered.find(({ body }) => body["log_id"] === logId));
  if (event === undefined) {
    const { last_error } = await api.get(`/api/automations/${setup.automationId}/`);
    const reason = typeof last_error === "string" ? last_error : "nothing is known of why";
    throw new DemoError(`No webhook arrived within ${patienceMs / 1000} s: ${reason}\n\n${usage}`);
  }
  const { numerical_value, is_passed, explanation } = event.body;
  const signature = event.isGenuine(setup.webhookSecret) ? "genuine" : "FORGED";
  console.log(`\nThe webhook says (signature: ${signature}):`);
  console.log(JSON.stringify({ event: event.type, numerical_value, is_passed, explanation }, null, 2));

  const scores = (await api.get(`/api/request-logs/${logId}/`))["scores"] as Record<string, Record<string, unknown>>;
  const score = scores[setup.evaluatorId];
  console.log(`\nThe span says: ${setup.evaluatorSlug} is ${String(score?.["numerical_value"])}.`);
}

async function within<T>(ms: number, probe: () => T | undefined): Promise<T | undefined> {
  for (const deadline = Date.now() + ms; Date.now() < deadline; await sleep(20)) {
    const found = probe();
    if (found !== undefined) return found;
  }
  return undefined;
}

await runDemo(usage, run);
