import { pino } from "pino";
import { Counter, Registry } from "prom-client";
import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import type { WebhookEvent } from "./events.ts";
import { createPublishSoon } from "./publish-soon.ts";

const event = (id: string): WebhookEvent => ({
  type: "customer_budget_limit_reached",
  organizationId: "org_a",
  environment: "prod",
  id,
  payload: {},
});

function bench(options: { isHeard?: boolean } = {}) {
  const taken: string[] = [];
  const state = { isDown: true };
  const skipped = new Counter({ name: "skipped", help: "skipped", registers: [new Registry()] });
  const soon = createPublishSoon({
    events: {
      isHeard: () => options.isHeard ?? true,
      publish({ id }) {
        if (state.isDown) return Promise.reject(new Error("the control store is down"));
        taken.push(id);
        return Promise.resolve();
      },
    },
    metrics: { skipped },
    logger: pino({ level: "silent" }),
  });
  return { soon, taken, state, skipped };
}

test("what the control store does not take is published once it does, in order", async () => {
  const { soon, taken, state } = bench();
  soon.publish(event("a"));
  soon.publish(event("b"));
  await new Promise((resolve) => setTimeout(resolve, 20));
  state.isDown = false;
  await expect.poll(() => taken, { timeout: 2 * limits.eventRetryMs }).toEqual(["a", "b"]);
  await soon.stop();
});

test("at the end it is tried once more", async () => {
  const { soon, taken, state } = bench();
  soon.publish(event("a"));
  await new Promise((resolve) => setTimeout(resolve, 20));
  state.isDown = false;
  await soon.stop();
  expect(taken).toEqual(["a"]);
});

test("of very many the newest are dropped and counted; what nobody hears is not held at all", async () => {
  const { soon, skipped } = bench();
  for (let i = 0; i < limits.eventsUnqueued + 5; i += 1) soon.publish(event(`${i}`));
  expect((await skipped.get()).values[0]?.value).toBe(5);
  await soon.stop();

  const unheard = bench({ isHeard: false });
  for (let i = 0; i < limits.eventsUnqueued + 5; i += 1) unheard.soon.publish(event(`${i}`));
  expect((await unheard.skipped.get()).values[0]?.value ?? 0).toBe(0);
  await unheard.soon.stop();
});
