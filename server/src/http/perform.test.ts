import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { ServiceError } from "../domain/errors.ts";
import type { AuditedAction } from "./audit.ts";
import { endpoint, type AnyEndpoint } from "./endpoint.ts";
import { reply, type Reply } from "./reply.ts";
import { bearer, startServer } from "./test-support.ts";

/** An operation that another one performs has the same guards as one that was requested directly. */

const shared = { summary: "A demo", tags: ["Demo"], errors: [], method: "POST", auth: "key" } as const;
const success = { status: 200, schema: z.unknown() } as const;

const limited = endpoint({
  ...shared,
  id: "limited",
  path: "/limited/",
  limit: "api",
  success,
  handler: () => "passed",
});
const scoring = endpoint({
  ...shared,
  id: "scoring",
  path: "/scoring/{id}/",
  permission: "scores:write",
  query: z.object({ page: z.string().default("1") }),
  body: { kind: "json", schema: z.object({ value: z.number() }) },
  success: { status: 201, schema: z.unknown() },
  handler: ({ params, query, body, principal, rawQuery }) => ({
    params,
    query,
    body,
    organization: principal.organization_id,
    raw: rawQuery.toString(),
  }),
});
const managing = endpoint({
  ...shared,
  id: "managing",
  path: "/managing/{id}/",
  permission: "settings:write",
  success,
  handler: () => "done",
});
const failing = endpoint({
  ...shared,
  id: "failing",
  path: "/failing/",
  success,
  handler: () => {
    throw new TypeError("a secret of the inside");
  },
});
const refusing = endpoint({
  ...shared,
  id: "refusing",
  path: "/refusing/",
  success,
  handler: () => {
    throw new ServiceError("unavailable", "Later.", { retryAfterS: 7 });
  },
});
const inner = [limited, scoring, managing, failing, refusing];

let server: Awaited<ReturnType<typeof startServer>>;
const audited: AuditedAction[] = [];
const blocked = new Set<string>();
beforeAll(async () => {
  const performing = inner.map((operation): AnyEndpoint =>
    endpoint({
      ...shared,
      id: `perform_${operation.id}`,
      path: `/perform/${operation.id}`,
      body: { kind: "json", schema: z.unknown() },
      success,
      async handler(context) {
        const answered = await context.perform(operation, {
          params: { id: "7" },
          query: { page: "3" },
          body: context.body,
        });
        return reply(200, { status: answered.status, answer: textOf(answered) });
      },
    }),
  );
  server = await startServer({
    endpoints: [...inner, ...performing],
    perMinute: { api: 2 },
    audit: async (action) => void audited.push(action),
    isBlocked: (organization) => blocked.has(organization),
  });
});
afterAll(() => server.close());

function textOf({ payload }: Reply): string {
  if (typeof payload?.data !== "string") throw new Error("not text");
  return payload.data;
}

async function perform(id: string, body: unknown = {}, token = "key-a1"): Promise<{ status: number; answer: unknown }> {
  const response = await fetch(`${server.url}/perform/${id}`, {
    method: "POST",
    headers: { ...bearer(token), "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { status, answer } = (await response.json()) as { status: number; answer: string };
  return { status, answer: JSON.parse(answer) as unknown };
}

test("it receives validated parameters and the caller", async () => {
  expect(await perform("scoring", { value: 1, extra: 2 })).toEqual({
    status: 201,
    answer: { params: { id: "7" }, query: { page: "3" }, body: { value: 1 }, organization: "org-a", raw: "page=3" },
  });
  expect(await perform("scoring", { value: "high" })).toMatchObject({
    status: 400,
    answer: { errors: { value: expect.any(Array) } },
  });
});

test("it needs its permission, and is refused for a blocked organization", async () => {
  expect(await perform("scoring", { value: 1 }, "key-read-only")).toMatchObject({
    status: 403,
    answer: { code: "forbidden" },
  });
  blocked.add("org-b");
  expect(await perform("scoring", { value: 1 }, "key-b1")).toMatchObject({
    status: 400,
    answer: { code: "organization_blocked" },
  });
});

test("it counts against the same limit as direct requests", async () => {
  const headers = bearer("key-a2");
  expect((await fetch(`${server.url}/limited/`, { method: "POST", headers })).status).toBe(200);
  expect((await perform("limited", {}, "key-a2")).status).toBe(200);
  expect(await perform("limited", {}, "key-a2")).toMatchObject({
    status: 429,
    answer: { retry_after: expect.any(Number) },
  });
  expect((await fetch(`${server.url}/limited/`, { method: "POST", headers })).status).toBe(429);
});

test("it is audited and counted as itself", async () => {
  expect(await perform("managing")).toEqual({ status: 200, answer: "done" });
  expect(audited).toMatchObject([{ action: "managing", target: "7", organizationId: "org-a" }]);
  expect(await server.registry.metrics()).toContain(
    'http_requests_total{route="/managing/{id}/",method="inner",status="200"} 1',
  );
});

test("errors become responses without internals, which are logged", async () => {
  expect(await perform("refusing")).toEqual({
    status: 503,
    answer: { detail: "Later.", code: "unavailable", retry_after: 7 },
  });
  const { status, answer } = await perform("failing");
  expect([status, JSON.stringify(answer)]).toEqual([500, expect.not.stringContaining("secret")]);
  expect(server.logLines.find(({ msg }) => msg === "request failed")).toMatchObject({
    route: "/failing/",
    err: { message: "a secret of the inside" },
  });
});
