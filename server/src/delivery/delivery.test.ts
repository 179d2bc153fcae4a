import { afterEach, describe, expect, test, vi } from "vitest";
import {
  deliveryBench,
  event,
  hourMs,
  minuteMs,
  newOrganization,
  secondMs,
  status,
  verifyAt,
  type NodeOptions,
} from "../../test/support/delivery-bench.ts";
import type { Receiver } from "../../test/support/receiver.ts";
import { deliveryLimits } from "./limits.ts";
import type { Resolve } from "../outgoing/address-guard.ts";

const cleanup: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});
const bench = (options?: NodeOptions) => deliveryBench(cleanup, options);

test("an event is queued once for each listening webhook, however often it is published", async () => {
  const { events, deliverer, receiver, hook, logOf, clock } = await bench();
  const [one, two] = [await hook(), await hook()];
  await events.publish(event("a"));
  await events.publishAll([event("a"), event("b"), event("a")]);
  await deliverer.idle();
  for (const webhook of [one, two]) {
    expect(receiver.on(webhook.path).map(({ json }) => json["id"])).toEqual(["a", "b"]);
    expect(await logOf(webhook)).toHaveLength(2);
  }
  const [first] = receiver.on(one.path);
  expect(verifyAt(clock.ms, one.plain, first!)).toEqual({ id: "a" });
});

test("an event without listeners is not queued", async () => {
  const { events, hook } = await bench();
  await hook({ event_type: "trace_completed" });
  const payload = () => {
    throw new Error("made all the same");
  };
  await events.publish(event("a", { payload }));
  expect(events.hasListeners(event("a"))).toBe(false);
});

describe("a receiver that fails", () => {
  test("with 500 for an hour gets the same id and body afterwards, at growing intervals", async () => {
    const { events, deliverer, receiver, clock, hook, logOf, pass } = await bench();
    const webhook = await hook();
    receiver.answer(webhook.path, status(500));
    await events.publish(event("a"));
    await deliverer.idle();
    const startedMs = clock.ms;
    await pass(hourMs, 5 * secondMs);
    const failed = receiver.on(webhook.path).length;
    expect(failed).toBeGreaterThanOrEqual(5);
    expect(failed).toBeLessThanOrEqual(8);
    expect((await logOf(webhook))[0]).toMatchObject({
      status: "pending",
      attempts: failed,
      response_status: 500,
      error: "the receiver answered 500",
    });
    receiver.answer(webhook.path, status(204));
    await pass(3 * hourMs);
    expect(new Set(receiver.on(webhook.path).map(({ headers, body }) => headers["webhook-id"] + body)).size).toBe(1);
    expect(receiver.on(webhook.path)).toHaveLength(failed + 1);
    const [delivery] = await logOf(webhook);
    expect(delivery).toMatchObject({ status: "delivered", next_attempt_at: null, error: null, response_status: 204 });
    expect(clock.ms - startedMs).toBeLessThan(deliveryLimits.webhookRetryMs);
  });

  test("is given up after a day, and not before", async () => {
    const { events, receiver, hook, logOf, pass } = await bench();
    const webhook = await hook();
    receiver.answer(webhook.path, status(503));
    await events.publish(event("a"));
    await pass(15 * hourMs, 10 * minuteMs);
    expect(await logOf(webhook)).toMatchObject([{ status: "pending" }]);
    await pass(10 * hourMs, 10 * minuteMs);
    expect(await logOf(webhook)).toMatchObject([{ status: "failed", next_attempt_at: null }]);
  });

  test("is switched off after days without a success, with a reason; a success in between resets that", async () => {
    const { events, receiver, stores, hook, pass, directory } = await bench();
    const [dead, flaky] = [await hook(), await hook()];
    receiver.answer(dead.path, status(500));
    const dayMs = 24 * hourMs;
    const days = deliveryLimits.webhookDisableAfterMs / dayMs + 1;
    for (let day = 0; day < days; day += 1) {
      receiver.answer(flaky.path, status(day === 2 ? 200 : 500));
      await directory.refresh();
      await events.publish(event(`day ${day}`));
      await pass(dayMs, 2 * hourMs);
    }
    const found = await stores.webhooks.find("org_a", dead.id);
    expect(found).toMatchObject({ active: false, disabled_at: expect.any(String) });
    expect(found?.disabled_reason).toMatch(/^No delivery has succeeded since 2026-03-0\dT.*500/);
    expect(await stores.webhooks.find("org_a", flaky.id)).toMatchObject({ active: true, disabled_reason: null });
    const before = receiver.on(dead.path).length;
    await events.publish(event("later"));
    await pass(hourMs, 10 * minuteMs);
    expect(receiver.on(dead.path)).toHaveLength(before);
  });

  test("is not switched off for a failure before its last success", async () => {
    const { events, deliverer, receiver, stores, hook, clock, directory } = await bench();
    const webhook = await hook();
    const deliver = async (id: string, code: number): Promise<void> => {
      receiver.answer(webhook.path, status(code));
      await events.publish(event(id));
      await deliverer.idle();
    };
    // Before this node has read the webhook again.
    await deliver("a", 500);
    await deliver("b", 200);
    await directory.refresh();
    clock.ms += deliveryLimits.webhookDisableAfterMs + hourMs;
    await deliver("c", 500);
    expect(await stores.webhooks.find("org_a", webhook.id)).toMatchObject({ active: true, disabled_reason: null });
  });

  test("with 410 is switched off immediately", async () => {
    const { events, deliverer, receiver, stores, hook } = await bench();
    const webhook = await hook();
    receiver.answer(webhook.path, status(410));
    await events.publish(event("a"));
    await deliverer.idle();
    expect(await stores.webhooks.find("org_a", webhook.id)).toMatchObject({
      active: false,
      disabled_reason: "The receiver answered 410 Gone.",
    });
  });

  test("that sends Retry-After is called later", async () => {
    const { events, deliverer, receiver, hook, logOf, clock } = await bench();
    const webhook = await hook();
    receiver.answer(webhook.path, (_request, response) => response.writeHead(429, { "retry-after": "1800" }).end());
    await events.publish(event("a"));
    await deliverer.idle();
    const [delivery] = await logOf(webhook);
    expect(Date.parse(delivery?.next_attempt_at ?? "") - clock.ms).toBe(1800 * secondMs);
  });
});

describe("responses other than a plain success", () => {
  type Answer = Parameters<Receiver["answer"]>[1];
  const drip: Answer = (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write("."), 20);
    response.on("close", () => clearInterval(timer));
  };
  const endless: Answer = (_request, response) => {
    response.writeHead(200, { "content-length": String(10 * 2 ** 30) });
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, "x")));
    };
    response.on("drain", more);
    more();
  };

  test("of a body of 10 GB one kilobyte is read, and the delivery succeeds", async () => {
    const { events, deliverer, receiver, hook, logOf } = await bench();
    const webhook = await hook();
    receiver.answer(webhook.path, endless);
    await events.publish(event("a"));
    await deliverer.idle();
    expect(await logOf(webhook)).toMatchObject([{ status: "delivered", response_body: "x".repeat(1_024) }]);
  });

  test("an endless body is aborted at the timeout", async () => {
    const { events, deliverer, receiver, hook, logOf } = await bench({ timeoutMs: 200 });
    const webhook = await hook();
    receiver.answer(webhook.path, drip);
    await events.publish(event("a"));
    const started = performance.now();
    await deliverer.idle();
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(await logOf(webhook)).toMatchObject([{ status: "delivered", response_status: 200 }]);
  });

  test("a response shortly before the timeout counts, one after it does not", async () => {
    const { events, deliverer, receiver, hook, logOf } = await bench({ timeoutMs: 1_000 });
    const [slow, late] = [await hook(), await hook()];
    const after =
      (ms: number): Answer =>
      (_request, response) =>
        void setTimeout(() => response.end("ok"), ms);
    receiver.answer(slow.path, after(800));
    receiver.answer(late.path, after(1_500));
    await events.publish(event("a"));
    await deliverer.idle();
    expect(await logOf(slow)).toMatchObject([{ status: "delivered" }]);
    expect(await logOf(late)).toMatchObject([{ status: "pending", error: "no complete answer within 1 s" }]);
  });

  test("a redirect is a failure that names its target, and is not followed", async () => {
    const { events, deliverer, receiver, hook, logOf } = await bench();
    const webhook = await hook();
    receiver.answer(webhook.path, (_request, response) =>
      response.writeHead(307, { location: `${receiver.url}/secret` }).end(),
    );
    await events.publish(event("a"));
    await deliverer.idle();
    expect(await logOf(webhook)).toMatchObject([
      {
        status: "pending",
        response_status: 307,
        error: `the receiver answered 307, a redirect to ${receiver.url}/secret; redirects are not followed`,
      },
    ]);
    expect(receiver.on("/secret")).toEqual([]);
  });

  test("NUL and broken UTF-8 in a body are replaced by storable text", async () => {
    const { events, deliverer, receiver, hook, logOf } = await bench();
    const webhook = await hook();
    receiver.answer(webhook.path, (_request, response) => response.end(Buffer.from([0x61, 0, 0xff, 0x62])));
    await events.publish(event("a"));
    await deliverer.idle();
    expect(await logOf(webhook)).toMatchObject([{ response_body: "a\uFFFD\uFFFDb" }]);
  });

  test("an unreachable receiver is a failure like any other", async () => {
    const { events, deliverer, hook, logOf } = await bench();
    const webhook = await hook({ url: "http://127.0.0.1:1/" });
    await events.publish(event("a"));
    await deliverer.idle();
    expect(await logOf(webhook)).toMatchObject([
      { status: "pending", attempts: 1, response_status: null, error: expect.stringContaining("ECONNREFUSED") },
    ]);
  });
});

describe("addresses", () => {
  test.each(["http://127.0.0.1", "http://[::1]", "http://169.254.169.254", "http://2130706433", "http://localhost"])(
    "%s is refused when it is called, and receives no connection",
    async (host) => {
      const { events, deliverer, receiver, hook, logOf } = await bench({ allowed: [] });
      const { port } = new URL(receiver.url);
      const webhook = await hook({ url: `${host}:${port}/` });
      await events.publish(event("a"));
      await deliverer.idle();
      expect(await logOf(webhook)).toMatchObject([{ error: expect.stringContaining("is not a public address") }]);
      expect(receiver.received).toEqual([]);
    },
  );

  test("a name that resolves to a private address the second time is refused then", async () => {
    let lookups = 0;
    const resolve: Resolve = (_host, done) => {
      lookups += 1;
      done(null, [{ address: lookups === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }]);
    };
    const { events, deliverer, receiver, hook, logOf } = await bench({ resolve });
    const webhook = await hook({ url: receiver.url.replace("127.0.0.1", "flips.example") });
    receiver.answer("/", (_request, response) => response.writeHead(200, { connection: "close" }).end());
    await events.publish(event("a"));
    await deliverer.idle();
    await events.publish(event("b"));
    await deliverer.idle();
    const [second, first] = await logOf(webhook);
    expect(first).toMatchObject({ status: "delivered" });
    expect(second).toMatchObject({ status: "pending", error: expect.stringContaining("is not a public address") });
    expect(receiver.received).toHaveLength(1);
  });
});

test("claims ahead for one organization leave room for another's", async () => {
  const { events, deliverer, receiver, hook, stores } = await bench({ timeoutMs: 60_000 });
  await newOrganization(stores, "org_b");
  const [hog, guest] = [await hook(), await hook({ unique_organization_id: "org_b" })];
  const publish = async (organizationId: string, name: string, count: number, chars: number): Promise<void> => {
    const payload = () => ({ text: "x".repeat(chars) });
    const ids = Array.from({ length: count }, (_, index) => `${name} ${index}`);
    await events.publishAll(ids.map((id) => event(id, { organizationId, payload })));
  };
  const [large, small] = [
    deliveryLimits.webhookAheadBytes / deliveryLimits.webhookAhead,
    deliveryLimits.webhookAheadBytes / 1_000,
  ];
  // Both claim as much as they may, until there is no room.
  await publish("org_a", "first", deliveryLimits.webhookInFlightEach, large);
  await publish("org_b", "first", deliveryLimits.webhookInFlightEach, small);
  await deliverer.idle();
  for (const { path } of [hog, guest]) receiver.answer(path, () => undefined);

  await publish("org_a", "more", 2 * deliveryLimits.webhookAhead, large);
  await vi.waitFor(() => expect(deliverer.inFlight()).toBe(deliveryLimits.webhookInFlightEach), 20_000);
  await vi.waitFor(() => expect(deliverer.aheadBytes()).toBeGreaterThan(deliveryLimits.webhookAheadBytes / 2), 20_000);
  const ofHog = deliverer.aheadBytes();
  expect(ofHog).toBeLessThan(deliveryLimits.webhookAheadBytes * 0.85);

  await publish("org_b", "more", 2 * deliveryLimits.webhookAhead, small);
  await vi.waitFor(() => expect(deliverer.aheadBytes()).toBeGreaterThan(ofHog + 64 * small), 20_000);
}, 60_000);
