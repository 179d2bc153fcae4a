import { afterAll, beforeAll, expect, test } from "vitest";
import { gatewayWays, send } from "../support/gateway-operations.ts";
import { startTestGateway, upstreamKey, type TestGateway } from "../support/gateway.ts";
import { answers, streams, type Script } from "../support/scripted-upstream.ts";
import { retrieveSpan } from "../support/spans.ts";

/** K14: in every operation, a key that a provider quotes is neither returned to the caller nor recorded in the span. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const callersKey = "sk-callers-9876543210";
const keys: [of: string, key: string, members: Record<string, unknown>][] = [
  ["the server's", upstreamKey, {}],
  [
    "the caller's",
    callersKey,
    { customer_credentials: { openai: { api_key: callersKey }, anthropic: { api_key: callersKey } } },
  ],
];

const errorQuoting = (key: string) => ({
  message: `key ${key} is wrong`,
  type: `t ${key}`,
  param: `headers.authorization: Bearer ${key}`,
  code: `c-${key}`,
  details: [{ [`name ${key}`]: key }],
  metadata: { raw: { request: { headers: { authorization: `Bearer ${key}` } } } },
});

/** How a provider quotes a key. */
const quotes: Record<string, (key: string) => Script> = {
  "a refusal": (key) => answers(400, { type: "error", error: errorQuoting(key) }, { "x-echo": key }),
  "a refusal of the key": (key) =>
    answers(401, { error: errorQuoting(key) }, { "www-authenticate": `Bearer realm="${key}"` }),
  "a limit": (key) => answers(429, { error: errorQuoting(key), request: key }, { "x-ratelimit-key": key }),
  "a failure": (key) => answers(500, { error: errorQuoting(key) }),
  "a failure as text": (key) => answers(502, `POST / authorization: Bearer ${key}`),
  "an error in a 200": (key) => answers(200, { type: "error", error: errorQuoting(key) }),
  "an event": (key) =>
    streams(`event: error\ndata: ${JSON.stringify({ type: "error", error: errorQuoting(key) })}\n\n`),
};

test.each(gatewayWays)("K14: %s", async (_name, { operation, isStream }) => {
  for (const [of, key, members] of keys) {
    for (const [kind, quote] of Object.entries(quotes)) {
      gateway.upstream.script(quote(key));
      const answer = await send(gateway.app.prod, operation, {
        retries: 0,
        ...(isStream && { stream: true }),
        ...members,
      });
      const sent = gateway.upstream.requests.at(-1)?.headers;
      expect([of, kind, JSON.stringify(sent).includes(key)]).toEqual([of, kind, true]);
      const span = await retrieveSpan(gateway.app.prod, answer.headers.get("x-spanway-log-id"));
      const shown = answer.text + JSON.stringify([...answer.headers]) + JSON.stringify(span);
      expect([of, kind, shown.includes(key.slice(3)), shown]).toEqual([of, kind, false, shown]);
    }
  }
});
