import { afterAll, beforeAll, expect, test } from "vitest";
import { authLimits } from "../../src/auth/limits.ts";
import { eventually, newAutomation, newEvaluator } from "../support/evaluation.ts";
import { createSpan } from "../support/spans.ts";
import { startTestApp, testKeys, type TestApp } from "../support/test-app.ts";
import type { ListAnswer } from "../support/test-client.ts";

/** One organization that uses up a resource does not block another. The other limits are tested beside their code. */

let app: TestApp;
beforeAll(async () => {
  // A password takes about 0.02 s, so that a crowd waits.
  const cost = { n: 2 ** 13, r: 8, p: 1 };
  app = await startTestApp({ SPANWAY_EVALUATOR_CPU_MS: "200", SPANWAY_TRUST_PROXY: "1" }, cost);
});
afterAll(() => app.stop());

const metric = async (line: string): Promise<number> => {
  const text = await (await fetch(`${app.url}/metrics`)).text();
  return Number(new RegExp(`^${line} (\\d+)`, "m").exec(text)?.[1] ?? 0);
};

test("K10: one organization that fills the sandbox does not block another, and frees it when its clients leave", async () => {
  const { id } = await newEvaluator(app.prod, { code_config: { eval_code_snippet: "for (;;);" } });
  const leaving = new AbortController();
  const statuses: number[] = [];
  const retryAfters = new Set<string | null>();
  const hog = Array.from({ length: 1_000 }, async () => {
    const answer = await fetch(`${app.url}/api/evaluators/${String(id)}/run/`, {
      method: "POST",
      headers: { authorization: `Bearer ${testKeys.prod}`, "content-type": "application/json" },
      body: JSON.stringify({ inputs: {} }),
      signal: leaving.signal,
    }).catch(() => undefined);
    if (answer?.status === 503) retryAfters.add(answer.headers.get("retry-after"));
    if (answer !== undefined) statuses.push(answer.status);
  });
  await eventually(async () => (await metric("spanway_sandbox_waiting")) > 790 || undefined, 20_000);
  await eventually(() => Promise.resolve(statuses.includes(503) || undefined), 20_000);
  expect([...retryAfters]).toEqual(["5"]);

  const { prod: guest } = await app.newOrganization();
  const evaluator = await newEvaluator(guest);
  const ran = await guest.post(`/api/evaluators/${String(evaluator["id"])}/run/`, { inputs: { output: "four" } });
  expect(ran.json).toMatchObject({ status: "success", numerical_value: 4 });
  await newAutomation(guest, { evaluator_ids: [evaluator["id"]] });
  await createSpan(guest, { output: "three" });
  const scores = await eventually(async () => {
    const { results } = (await guest.get("/api/scores/")).json as ListAnswer;
    return results.length > 0 ? results : undefined;
  });
  expect(scores).toMatchObject([{ status: "success", numerical_value: 5 }]);
  expect(await metric("spanway_sandbox_waiting")).toBeGreaterThan(500);

  leaving.abort();
  await Promise.all(hog);
  await eventually(async () => (await metric("spanway_sandbox_waiting")) === 0 || undefined, 20_000);
  expect(await metric('spanway_sandbox_runs_total\\{outcome="refused"\\}')).toBeGreaterThan(100);
}, 90_000);

test("one address that tries passwords delays a login from another by a turn", async () => {
  const login = (address: string, body: Record<string, string>) =>
    fetch(`${app.url}/api/auth/login/`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": address },
      body: JSON.stringify(body),
    });
  const statuses: number[] = [];
  // As many as the throttle allows one address to try, which it counts before it knows any outcome.
  const hog = Array.from({ length: authLimits.loginFailuresPerAddress }, async (_, index) => {
    const { status } = await login("198.51.100.7", { email: `${index}@example.com`, password: "guess" });
    statuses.push(status);
  });
  await eventually(async () => (await metric("spanway_password_hashes_waiting")) > 60 || undefined, 20_000);
  const before = statuses.length;
  expect((await login("203.0.113.9", app.admin)).status).toBe(200);
  expect(statuses.length - before).toBeLessThan(30);
  await Promise.all(hog);
  expect(await metric("spanway_password_hashes_waiting")).toBe(0);
}, 60_000);
