import { afterEach, describe, expect, test } from "vitest";
import {
  deliveryBench,
  event,
  hourMs,
  minuteMs,
  newOrganization,
  secondMs,
  secrets,
  startNode,
  status,
  verifyAt,
  type NodeOptions,
} from "../../test/support/delivery-bench.ts";
import { deliveryLimits } from "./limits.ts";
import { purgeDeliveries } from "./housekeeping.ts";

const cleanup: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo();
});
const bench = (options?: NodeOptions) => deliveryBench(cleanup, options);

describe("webhooks do not wait for each other", () => {
  test("hanging webhooks do not delay one that responds", async () => {
    const { events, deliverer, receiver, hook, logOf } = await bench({ timeoutMs: 20_000 });
    const hanging = await Promise.all(Array.from({ length: 40 }, () => hook()));
    for (const { path } of hanging) receiver.answer(path, () => undefined);
    await events.publishAll(Array.from({ length: 10 }, (_, i) => event(`before ${i}`)));
    const lively = await hook();
    await events.publishAll(Array.from({ length: 100 }, (_, i) => event(`${i}`)));
    await expect.poll(() => receiver.on(lively.path).length, { timeout: 10_000, interval: 10 }).toBe(100);
    await expect.poll(() => deliverer.inFlight()).toBe(hanging.length * deliveryLimits.webhookInFlightFirst);
    for (const { path } of hanging) expect(receiver.on(path)).toHaveLength(deliveryLimits.webhookInFlightFirst);
    // The slow webhook lost no attempt because of the hanging ones.
    expect((await logOf(hanging[0]!)).every(({ attempts }) => attempts === 0)).toBe(true);
  });

  test("hanging webhooks of one organization do not delay those of another", async () => {
    const { events, deliverer, receiver, hook, stores } = await bench({ timeoutMs: 60_000 });
    await newOrganization(stores, "org_b");
    const hanging = await Promise.all(Array.from({ length: 90 }, () => hook()));
    for (const { path } of hanging) receiver.answer(path, () => undefined);
    await events.publishAll(Array.from({ length: 10 }, (_, i) => event(`before ${i}`)));
    await expect
      .poll(() => deliverer.inFlight(), { timeout: 10_000 })
      .toBeGreaterThan(deliveryLimits.webhookInFlight * 0.75);
    const lively = await hook({ unique_organization_id: "org_b" });
    await events.publishAll(Array.from({ length: 100 }, (_, i) => event(`${i}`, { organizationId: "org_b" })));
    await expect.poll(() => receiver.on(lively.path).length, { timeout: 10_000, interval: 10 }).toBe(100);
    expect(deliverer.inFlight()).toBeLessThan(deliveryLimits.webhookInFlight);
  });

  test("a failing webhook gets few at a time, and as many as others once it recovers", async () => {
    const { events, deliverer, receiver, hook, pass } = await bench();
    const webhook = await hook();
    let open = 0;
    let most = 0;
    let code = 500;
    receiver.answer(webhook.path, (_request, response) => {
      open += 1;
      most = Math.max(most, open);
      setTimeout(() => {
        open -= 1;
        response.writeHead(code).end();
      }, 10);
    });
    await events.publish(event("first"));
    for (let i = 0; i < 3; i += 1) await pass(hourMs, hourMs);
    most = 0;
    await events.publishAll(Array.from({ length: 20 }, (_, i) => event(`${i}`)));
    await deliverer.idle();
    expect(most).toBeLessThanOrEqual(deliveryLimits.webhookInFlightFailing);
    code = 200;
    await pass(hourMs, hourMs);
    most = 0;
    await events.publishAll(Array.from({ length: 40 }, (_, i) => event(`after ${i}`)));
    await deliverer.idle();
    expect(most).toBeGreaterThan(deliveryLimits.webhookInFlightFailing);
  });

  test("a full queue accepts no more, and the webhook shows how many were skipped", async () => {
    const { events, stores, receiver, hook, backlog } = await bench();
    const [full, other] = [await hook(), await hook()];
    for (let i = 0; i < deliveryLimits.webhookQueueRows; i += 1) backlog.added(full.id, 0);
    await events.publishAll([event("a"), event("b")]);
    expect(await stores.webhooks.find("org_a", full.id)).toMatchObject({ skipped_events: 2 });
    await expect.poll(() => receiver.on(other.path).length).toBe(2);
    expect(receiver.on(full.path)).toEqual([]);
  });
});

describe("several nodes", () => {
  test("send each event once", async () => {
    const { events, stores, receiver, clock, hook, node } = await bench();
    const other = await startNode(stores, clock);
    const webhook = await hook();
    await other.directory.refresh();
    const published = Array.from({ length: 200 }, (_, i) => event(`${i}`));
    await Promise.all([events.publishAll(published), other.events.publishAll(published)]);
    await Promise.all([node.deliverer.idle(), other.deliverer.idle()]);
    await expect.poll(() => receiver.on(webhook.path).length).toBe(200);
    expect(new Set(receiver.on(webhook.path).map(({ json }) => json["id"])).size).toBe(200);
    await other.stop();
  });

  test("what a dead node had claimed is sent by another, with the same id", async () => {
    const { stores, receiver, clock, hook, logOf, pass, events, deliverer } = await bench();
    const webhook = await hook();
    receiver.answer(webhook.path, status(500));
    await events.publish(event("a"));
    await deliverer.idle();
    clock.ms += 10 * minuteMs;
    const at = (ms: number) => new Date(clock.ms + ms).toISOString();
    const claimed = await stores.deliveries.claim(webhook.id, {
      now: at(0),
      until: at(deliveryLimits.webhookClaimMs),
      limit: 9,
    });
    expect(claimed).toHaveLength(1);
    receiver.answer(webhook.path, status(200));
    await pass(deliveryLimits.webhookClaimMs - secondMs, secondMs * 10);
    expect(receiver.on(webhook.path)).toHaveLength(1);
    await pass(2 * secondMs, secondMs);
    expect(receiver.on(webhook.path)).toHaveLength(2);
    // The node was only slow, and reports a failure too late.
    await stores.deliveries.finish([{ ...failure, id: claimed[0]!.id, attempts: claimed[0]!.attempts }]);
    expect(await logOf(webhook)).toMatchObject([{ status: "delivered" }]);
  });
});

const failure = {
  status: "pending" as const,
  isAttempt: true,
  next_attempt_at: "2026-03-01T12:00:00.000Z",
  last_attempt_at: "2026-03-01T11:00:00.000Z",
  response_status: 500,
  response_body: "",
  error: "late",
};

describe("changes while deliveries are in progress", () => {
  test("after a rotation, both secrets sign what waited, and only the new one a day later", async () => {
    const { events, deliverer, receiver, stores, directory, hook, clock, pass } = await bench();
    const webhook = await hook();
    receiver.answer(webhook.path, status(500));
    await events.publish(event("a"));
    await deliverer.idle();
    const next = secrets.make("org_a");
    const previousUntil = new Date(clock.ms + deliveryLimits.webhookSecretOverlapMs).toISOString();
    const now = new Date(clock.ms).toISOString();
    await stores.webhooks.rotate("org_a", webhook.id, { secret: next.sealed, previousUntil, now });
    await directory.refresh();
    receiver.answer(webhook.path, status(200));
    await pass(minuteMs);
    const during = receiver.on(webhook.path).at(-1)!;
    for (const secret of [webhook.plain, next.secret]) expect(verifyAt(clock.ms, secret, during)).toEqual({ id: "a" });
    await pass(25 * hourMs, hourMs);
    await events.publish(event("b"));
    await deliverer.idle();
    const after = receiver.on(webhook.path).at(-1)!;
    expect(verifyAt(clock.ms, next.secret, after)).toEqual({ id: "b" });
    expect(() => verifyAt(clock.ms, webhook.plain, after)).toThrow("No matching signature found");
  });

  test("deleting a webhook deletes its queue", async () => {
    const { events, deliverer, receiver, stores, directory, hook, pass, logOf } = await bench();
    const webhook = await hook();
    receiver.answer(webhook.path, status(500));
    await events.publishAll(Array.from({ length: 30 }, (_, i) => event(`${i}`)));
    await deliverer.idle();
    const sent = receiver.on(webhook.path).length;
    expect(await stores.webhooks.delete("org_a", webhook.id)).toBe(true);
    await directory.refresh();
    await pass(hourMs, 10 * minuteMs);
    expect(receiver.on(webhook.path)).toHaveLength(sent);
    expect(await logOf(webhook)).toEqual([]);
    expect(await stores.deliveries.queues()).toEqual([]);
  });

  const switchedOff: ReadonlyArray<readonly [how: string, code: number, reason: string]> = [
    ["by its user", 500, "the webhook was switched off"],
    ["by a receiver that is gone", 410, "the webhook was switched off: The receiver answered 410 Gone."],
  ];
  test.each(switchedOff)(
    "the queue of a webhook that is switched off %s ends, and can be resent once it is on",
    async (_how, code, reason) => {
      const { events, deliverer, receiver, stores, directory, hook, pass, logOf, clock, backlog } = await bench();
      const webhook = await hook();
      const now = () => new Date(clock.ms).toISOString();
      const turn = async (active: boolean) => {
        await stores.webhooks.update("org_a", webhook.id, { active }, now());
        await directory.refresh();
      };
      receiver.answer(webhook.path, status(500));
      await events.publishAll([event("a"), event("b")]);
      await deliverer.idle();
      receiver.answer(webhook.path, status(code));
      await events.publish(event("c"));
      await deliverer.idle();
      if (code === 500) await turn(false);
      const sent = receiver.received.length;
      await pass(2 * secondMs, secondMs);
      expect(await logOf(webhook)).toEqual(
        Array.from({ length: 3 }, () =>
          expect.objectContaining({ status: "failed", next_attempt_at: null, error: reason, attempts: 1 }),
        ),
      );
      expect(backlog.total()).toEqual({ rows: 0, bytes: 0 });
      receiver.answer(webhook.path, status(200));
      await turn(true);
      await pass(24 * hourMs, hourMs);
      expect(receiver.received).toHaveLength(sent);
      const [{ event_id } = { event_id: "" }] = await logOf(webhook);
      const times = { now: now(), expiresAt: "2027-01-01T00:00:00.000Z" };
      await stores.deliveries.redeliver("org_a", webhook.id, event_id, times);
      await pass(2 * secondMs, secondMs);
      expect(receiver.received.slice(sent).map(({ headers }) => headers["webhook-id"])).toEqual([event_id]);
    },
  );

  test("an attempt in flight when its webhook is switched off counts if it succeeds", async () => {
    const { events, deliverer, receiver, stores, directory, hook, logOf, clock } = await bench({ timeoutMs: 60_000 });
    const webhook = await hook();
    let answer = (): void => undefined;
    receiver.answer(webhook.path, (_request, response) => {
      answer = () => void response.end("ok");
    });
    await events.publish(event("a"));
    await expect.poll(() => receiver.on(webhook.path).length).toBe(1);
    await stores.webhooks.update("org_a", webhook.id, { active: false }, new Date(clock.ms).toISOString());
    await directory.refresh();
    clock.ms += 2 * secondMs;
    deliverer.due([]);
    await expect.poll(async () => (await logOf(webhook))[0]?.status).toBe("failed");
    answer();
    await expect.poll(async () => (await logOf(webhook))[0]?.status).toBe("delivered");
  });

  test("stopping aborts attempts in flight, which do not count", async () => {
    const { events, receiver, hook, logOf, node, stores, clock } = await bench({ timeoutMs: 60_000 });
    const webhook = await hook();
    receiver.answer(webhook.path, () => undefined);
    await events.publish(event("a"));
    await expect.poll(() => receiver.on(webhook.path).length).toBe(1);
    await node.stop();
    expect(await logOf(webhook)).toMatchObject([{ status: "pending", attempts: 0 }]);
    receiver.answer(webhook.path, status(200));
    const next = await startNode(stores, clock);
    await next.deliverer.idle();
    expect(await logOf(webhook)).toMatchObject([{ status: "delivered", attempts: 1 }]);
    await next.stop();
  });
});

test("a fast webhook has a bounded number in flight, and its claims are released when the node stops", async () => {
  const { events, deliverer, receiver, hook, logOf, node, stores, clock } = await bench({ timeoutMs: 60_000 });
  const webhook = await hook();
  const many = (name: string, count: number) => Array.from({ length: count }, (_, i) => event(`${name} ${i}`));
  await events.publishAll(many("before", deliveryLimits.webhookInFlightEach));
  await deliverer.idle();
  receiver.answer(webhook.path, () => undefined);
  await events.publishAll(many("then", deliveryLimits.webhookInFlightEach + 40));
  await expect.poll(() => deliverer.inFlight()).toBe(deliveryLimits.webhookInFlightEach);
  await expect.poll(() => receiver.on(webhook.path).length).toBe(2 * deliveryLimits.webhookInFlightEach);
  await node.stop();
  const waiting = (await logOf(webhook)).slice(0, deliveryLimits.webhookInFlightEach + 40);
  const now = new Date(clock.ms).toISOString();
  for (const each of waiting) expect(each).toMatchObject({ status: "pending", attempts: 0, next_attempt_at: now });
  receiver.answer(webhook.path, status(200));
  const next = await startNode(stores, clock);
  await next.deliverer.idle();
  expect((await logOf(webhook)).every(({ attempts, status }) => attempts === 1 && status === "delivered")).toBe(true);
  await next.stop();
});

test("a payload that is too large is sent without its large members", async () => {
  const { events, deliverer, receiver, hook } = await bench();
  const webhook = await hook();
  const payload = { small: 1, long: "é".repeat(deliveryLimits.webhookPayloadBytes), digits: "x" };
  await events.publish(event("a", { payload: () => JSON.stringify(payload) }));
  await deliverer.idle();
  expect(receiver.on(webhook.path)[0]?.json).toEqual({ small: 1, long: null, digits: "x", is_truncated: true });
});

test("the log drops old and excess deliveries, but never pending ones", async () => {
  const { events, deliverer, receiver, stores, directory, hook, clock, logOf } = await bench();
  const [done, waiting] = [await hook(), await hook()];
  receiver.answer(waiting.path, status(500));
  await events.publishAll([event("a"), event("b"), event("c")]);
  await deliverer.idle();
  const before = new Date(clock.ms + 1).toISOString();
  expect(await stores.deliveries.trim(done.id, { keep: 2, before, limit: 10 })).toBe(1);
  expect(await stores.deliveries.trim(waiting.id, { keep: 2, before, limit: 10 })).toBe(0);
  const purge = () =>
    purgeDeliveries({ deliveries: stores.deliveries, directory, now: () => clock.ms }, new AbortController().signal);
  const areRetained = async (webhook: Awaited<ReturnType<typeof hook>>) => {
    const times = { now: new Date(clock.ms).toISOString(), expiresAt: new Date(clock.ms).toISOString() };
    const { unique_organization_id: organization, id } = webhook;
    const rows = await logOf(webhook);
    const again = rows.map(({ event_id }) => stores.deliveries.redeliver(organization, id, event_id, times));
    return (await Promise.all(again)).map((row) => row !== undefined);
  };
  clock.ms += deliveryLimits.webhookPayloadMs + 1;
  await purge();
  expect(await areRetained(done)).toEqual([false, false]);
  expect(await areRetained(waiting)).toEqual([true, true, true]);
  clock.ms += deliveryLimits.webhookLogMs;
  await purge();
  expect(await logOf(done)).toEqual([]);
  expect((await logOf(waiting)).length).toBe(3);
});
