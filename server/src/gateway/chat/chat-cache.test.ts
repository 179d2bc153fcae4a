import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Registry } from "prom-client";
import { expect, test, vi } from "vitest";
import { createPriceBook } from "../../pricing/price-book.ts";
import { Secret } from "../../lib/secret.ts";
import { createCacheMetrics, createGatewayMetrics } from "../../telemetry/gateway-metrics.ts";
import { createAnswerCache } from "../cache/answer-cache.ts";
import { createMemoryStore } from "../cache/memory-store.ts";
import { createChat } from "./chat.ts";
import type { GatewayCall } from "../call/operation.ts";
import { openaiShaped } from "../providers/quirks.ts";
import type { Attempt, Plan } from "../routing/plan.ts";
import { builtInProvider } from "../routing/provider-table.ts";
import { createCallRunner } from "../call/run-call.ts";

type Chat = (call: GatewayCall) => Promise<void>;

const attempt: Attempt = {
  model: "spanway/echo",
  target: { provider: builtInProvider, model: "echo", baseUrl: "", credential: { fields: {} } },
  translator: undefined,
  quirks: openaiShaped.custom,
  credentialId: "none",
  keyMark: "",
  isCallerHost: false,
  isOperatorHost: false,
};

/** A gateway of echo models with a fake clock. Records the calls to its budgets and credentials. */
function openChat(): {
  chat: Chat;
  recordedCalls: string[];
  spans: Array<Record<string, unknown>>;
  clock: { ms: number };
} {
  const clock = { ms: 1_000_000 };
  const now = (): number => clock.ms;
  const recordedCalls: string[] = [];
  const spans: Array<Record<string, unknown>> = [];
  const registry = new Registry();
  const plan: Plan = {
    models: ["spanway/echo"],
    hasManyKeys: false,
    first: [attempt],
    next: () => Promise.resolve({ attempt, waitedMs: 0, furtherModels: 0, roomMs: Infinity }),
    problem: () => ({ kind: "fault", status: 0, message: "none" }),
    report: (_attempt, outcome) => void recordedCalls.push(`reported ${JSON.stringify(outcome)}`),
  };
  const calls = createCallRunner({
    pools: { dispatch: () => expect.unreachable(), locate: () => undefined, close: () => undefined },
    timeouts: { firstByteMs: 1_000, idleMs: 1_000, totalMs: 1_000 },
    commentMs: 1_000,
    router: {
      plan: () => Promise.resolve(plan),
      keys: async () => [],
      lists: () => Promise.resolve(false),
      modelName: (name) => name,
    },
    budgets: {
      observe: () => Promise.resolve(),
      recall: () => Promise.resolve(),
      admit: () => {
        recordedCalls.push("admitted");
        return Promise.resolve({
          isAllowed: true,
          limitInfo: { is_allowed: true },
          settle: () => void recordedCalls.push("settled"),
        });
      },
    },
    recorder: {
      add({ body }, onSafe) {
        spans.push(body());
        onSafe?.();
      },
      claim: () => true,
      during: (_organization, call) => call(),
    },
    prices: createPriceBook({ maxModels: 10 }),
    metrics: createGatewayMetrics(registry),
  });
  const chat = createChat({
    now,
    cache: createAnswerCache({
      store: createMemoryStore({ now, onEviction: () => undefined }),
      secretKey: new Secret("a secret of the test"),
      metrics: createCacheMetrics(registry),
      now,
    }),
  });
  return { chat: (call) => calls.run(chat, call), recordedCalls, spans, clock };
}

async function complete(chat: Chat, members: Record<string, unknown>): Promise<unknown> {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const heads = vi.spyOn(response, "writeHead");
  const body = {
    model: "spanway/echo",
    messages: [{ role: "user", content: "Hello." }],
    cache_enabled: true,
    ...members,
  };
  await chat({
    origin: {
      organization_id: "org",
      environment: "prod",
      organization_key_id: "key",
      organization_key_name: "",
      log_method: "gateway",
    },
    bytes: Buffer.from(JSON.stringify(body)),
    headers: {},
    search: "",
    requestId: "",
    signal: new AbortController().signal,
    permissions: new Set(),
    startedAtMs: 0,
    elapsedMs: () => 1,
    response,
  });
  const [, head] = heads.mock.calls[0] ?? [];
  return (head as unknown as Record<string, unknown>)["x-spanway-cache"];
}

test("a cached answer reserves and settles no budget, and reports nothing about a credential", async () => {
  const { chat, recordedCalls, spans } = openChat();
  expect(await complete(chat, { customer_identifier: "c" })).toBe("miss");
  expect(recordedCalls).toEqual(["admitted", 'reported "success"', "settled"]);
  for (const stream of [false, true]) {
    recordedCalls.length = 0;
    expect(await complete(chat, { customer_identifier: "c", stream })).toBe("hit");
    expect(recordedCalls).toEqual([]);
    expect(spans.at(-1)).toMatchObject({ cache_hit: true, stream, limit_info: { is_allowed: true } });
  }
  expect(spans).toHaveLength(3);
});

const day = 24 * 60 * 60;
test.each<[string, number | undefined, number]>([
  ["30 days by default", undefined, 30 * day],
  ["for the requested time", 90, 90],
  ["for a year at most", 10_000 * day, 365 * day],
])("an answer is cached %s", async (_how, cache_ttl, livesS) => {
  const { chat, clock } = openChat();
  expect(await complete(chat, { cache_ttl })).toBe("miss");
  clock.ms += livesS * 1e3 - 1;
  expect(await complete(chat, { cache_ttl })).toBe("hit");
  clock.ms += 1;
  expect(await complete(chat, { cache_ttl })).toBe("miss");
});

test("a call gets no answer older than its limit, and a stricter limit does not remove the answer for others", async () => {
  const { chat, clock } = openChat();
  await complete(chat, { cache_ttl: 1_000 });
  clock.ms += 60_000;
  expect(await complete(chat, { cache_ttl: 61 })).toBe("hit");
  expect(await complete(chat, { cache_ttl: 0 })).toBe("miss");
  expect(await complete(chat, { cache_ttl: 1_000 })).toBe("hit");
});
