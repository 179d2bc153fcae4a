import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bodyOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";

/** Allowed names of everything that people name. */

let app: TestApp;
let own: Awaited<ReturnType<TestApp["newOrganization"]>>;
beforeAll(async () => {
  app = await startTestApp();
  own = await app.newOrganization();
});
afterAll(() => app.stop());

const named: ReadonlyArray<readonly [path: string, others: Readonly<Record<string, unknown>>]> = [
  ["/api/saved-views/", { screen: "logs", search: "" }],
  ["/api/conditions/", { condition_slug: "named", condition_type: "single_log", condition_policy: { rules: [] } }],
  ["/api/evaluators/", { evaluator_slug: "named", type: "human", score_value_type: "boolean" }],
  ["/api/automations/", {}],
  ["/api/providers/", { provider: "groq", api_key: "gsk-0123456789" }],
  ["/api/alerts/", { metric: "error_count", window: "5m", operator: "gt", threshold: 1 }],
  ["/api/webhooks/", { url: "https://hooks.example.com/", event_type: "request_log" }],
];

const unreadable: ReadonlyArray<readonly [what: string, name: string]> = [
  ["half a surrogate pair", "a\ud800b"],
  ["the replacement of one", "a\ufffdb"],
  ["a control character", "a\u0007b"],
  ["a line separator", "a\u2028b"],
  ["an override of direction", "a\u202eb"],
  ["an isolate of direction", "a\u2066b\u2069"],
  ["nothing that can be seen", "\u200b"],
];

/** API keys are created by people. */
const namedByPeople = ["/api/api-keys/", { environment: "test" }] as const;

describe.each([...named, namedByPeople])("%s", (path, others) => {
  test.each(unreadable)("refuses a name with %s by its field", async (_what, name) => {
    const client = path === namedByPeople[0] ? await app.login() : own.prod;
    const answer = await client.post(path, { ...others, name });
    const body = bodyOf(answer);
    // Automations return field errors at the top level.
    const { name: problems } = (body["errors"] ?? body) as { name?: unknown };
    expect([answer.status, problems]).toEqual([400, [expect.stringMatching(/^must /)]]);
  });
});

test("composed and decomposed letters are one name, stored composed; letters of all scripts and emoji are kept", async () => {
  const save = (name: string) => own.prod.post("/api/saved-views/", { screen: "logs", search: "", name });
  expect(bodyOf(await save("Cafe\u0301"))).toMatchObject({ name: "Caf\u00e9" });
  expect((await save("Caf\u00e9")).status).toBe(409);
  for (const name of ["שגיאות", "エラー", "👨‍👩‍👧", "نمی‌خواهم"]) {
    expect(await save(name)).toMatchObject({ status: 201, json: { name } });
  }
});
