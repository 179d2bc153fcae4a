import { describe, expect, test } from "vitest";
import type { Delivery } from "../domain/webhook.ts";
import { deliveryLimits } from "./limits.ts";
import { Endpoint } from "./endpoint.ts";

const deliveries = (count: number): Delivery[] =>
  Array.from({ length: count }, (_, id) => ({
    id,
    webhook_id: 1,
    unique_organization_id: "org",
    environment: "prod",
    event_id: `${id}`,
    event_type: "request_log",
    payload: "12345",
    status: "pending",
    attempts: 0,
    next_attempt_at: null,
    expires_at: "",
    created_at: "",
    last_attempt_at: null,
    response_status: null,
    response_body: null,
    error: null,
  }));

function fastEndpoint(): Endpoint {
  const endpoint = new Endpoint(1);
  for (let i = 0; i < deliveryLimits.webhookInFlightEach; i += 1) endpoint.succeeded();
  return endpoint;
}

const { webhookAhead: ahead, webhookInFlightEach: each, webhookInFlightFirst: first } = deliveryLimits;
const farMs = deliveryLimits.webhookClaimMs;

describe("claims of a webhook", () => {
  test("are few while it is new, and ahead of time once it takes everything", () => {
    const fresh = new Endpoint(1);
    expect(fresh.wanted(fresh.free, deliveryLimits.webhookAheadBytes)).toBe(first);
    fresh.inFlight = first - 1;
    expect(fresh.wanted(fresh.free, deliveryLimits.webhookAheadBytes)).toBe(0);
    const fast = fastEndpoint();
    expect(fast.wanted(fast.free, deliveryLimits.webhookAheadBytes)).toBe(each + ahead);
    expect(fast.wanted(fast.free, 0)).toBe(each);
    fast.failed();
    expect(fast.wanted(fast.free, deliveryLimits.webhookAheadBytes)).toBe(each / 2);
  });

  test("wait until there are enough for a statement", () => {
    const fast = fastEndpoint();
    fast.claimed(deliveries(ahead), farMs);
    expect([fast.waiting, fast.waitingBytes, fast.wanted(fast.free, deliveryLimits.webhookAheadBytes)]).toEqual([
      ahead,
      ahead * 5,
      0,
    ]);
    for (let i = 0; i <= ahead / 2; i += 1) expect(fast.next(0)).toBeDefined();
    expect(fast.wanted(0, deliveryLimits.webhookAheadBytes)).toBe(ahead - fast.waiting);
  });

  test("take no more room ahead than there is, by the largest recent payload, and always continue", () => {
    const fast = fastEndpoint();
    fast.claimed(deliveries(3), farMs);
    fast.drop();
    expect(fast.wanted(fast.free, 100 * 5)).toBe(each + 100);
    expect(fast.wanted(fast.free, ahead)).toBe(each);
    expect(fast.wanted(fast.free, -1)).toBe(each);
  });

  test("begin in order, as many at a time as the webhook takes", () => {
    const endpoint = new Endpoint(1);
    endpoint.claimed(deliveries(first + 1), farMs);
    const started: unknown[] = [];
    for (let next = endpoint.next(0); next !== undefined; next = endpoint.next(0)) {
      started.push(next.id);
      endpoint.inFlight += 1;
    }
    expect(started).toEqual(Array.from({ length: first }, (_, id) => id));
    expect([endpoint.waiting, endpoint.drop().length, endpoint.waiting, endpoint.waitingBytes]).toEqual([1, 1, 0, 0]);
  });

  test("do not begin if they could outlast the claim: then any node may claim them again", () => {
    const endpoint = new Endpoint(1);
    endpoint.claimed(deliveries(2), farMs);
    endpoint.claimed(deliveries(1), farMs + 1);
    const lastMs = farMs - deliveryLimits.webhookTimeoutMs;
    expect(endpoint.next(lastMs)?.id).toBe(0);
    expect(endpoint.next(lastMs + 1)?.id).toBe(0);
    expect(endpoint.waiting).toBe(0);
  });
});
