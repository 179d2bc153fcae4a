import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import { createClient, type Answer, type ListAnswer, type TestClient } from "../support/test-client.ts";
import { bodyOf, storeSpans } from "../support/spans.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ SPANWAY_BULK_CREATE_PER_MINUTE: undefined });
});
afterAll(() => app.stop());

const path = "/api/request-logs/bulk/";
const oneRow = { logs: [{ input: "x" }] };

/** Statuses of requests sent one after another. */
async function send(times: number, client: TestClient, at = path, body: unknown = oneRow): Promise<number[]> {
  const statuses: number[] = [];
  for (let n = 0; n < times; n += 1) statuses.push((await client.post(at, body)).status);
  return statuses;
}
const all = (status: number, times: number) => Array.from({ length: times }, () => status);

describe("bulk create: 30 requests a minute", () => {
  test("are shared by all keys of an organisation, its aliases and bodies, and affect nothing else", async () => {
    const { prod, test: testKey } = await app.newOrganization();
    expect(await send(10, prod)).toEqual(all(201, 10));
    expect(await send(10, testKey)).toEqual(all(201, 10));
    expect(await send(5, prod, "/request-logs/bulk/")).toEqual(all(201, 5));
    expect(await send(5, testKey, "/api/request-logs/bulk")).toEqual(all(201, 5));

    for (const client of [prod, testKey]) {
      const answer: Answer = await client.post(path, oneRow);
      expect(answer.status).toBe(429);
      expect(answer.json).toMatchObject({
        code: "rate_limited",
        detail: expect.any(String),
        retry_after: expect.any(Number),
      });
      const retryAfterS = Number(answer.headers.get("retry-after"));
      expect(retryAfterS).toBe(bodyOf(answer)["retry_after"]);
      expect(retryAfterS).toBeGreaterThan(0);
      expect(retryAfterS).toBeLessThanOrEqual(60);
    }
    expect(await send(3, prod, "/api/request-logs/", {})).toEqual(all(201, 3));
    expect((await prod.post("/api/request-logs/list/")).status).toBe(200);
  });

  test("are counted per organisation", async () => {
    const [first, second] = [await app.newOrganization(), await app.newOrganization()];
    expect((await send(31, first.prod)).at(-1)).toBe(429);
    expect(await send(1, second.prod)).toEqual([201]);
  });

  test("are counted per person, separately from the organisation's keys", async () => {
    const person = await app.login();
    expect(await send(30, person)).toEqual(all(201, 30));
    expect(await send(1, person)).toEqual([429]);
    expect(await send(1, await app.login())).toEqual([429]);
    expect(await send(1, app.prod)).toEqual([201]);
    const colleague = { email: "second@example.com", password: "a long enough password" };
    const body = { name: "Second", admin_email: colleague.email, admin_password: colleague.password };
    await person.post("/api/organizations/", body);
    const login = await createClient(app.url).post("/api/auth/login/", colleague);
    expect(await send(1, createClient(app.url, String(bodyOf(login)["access"])))).toEqual([201]);
  });

  test("requests without credentials use up no organisation's limit", async () => {
    const { prod } = await app.newOrganization();
    expect(await send(40, createClient(app.url, "unknown_key_0123456789"))).toEqual(all(401, 40));
    expect(await send(30, prod)).toEqual(all(201, 30));
  });

  test("500 rows each: 15,000 in a minute", async () => {
    const { prod } = await app.newOrganization();
    const logs = Array.from({ length: 500 }, () => ({ cost: 0.001 }));
    const answers = await Promise.all(Array.from({ length: 31 }, () => prod.post(path, { logs })));
    expect(answers.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([...all(201, 30), 429]);
    const { count } = await prod.waitForSpans(15_000);
    expect(count).toBe(15_000);
  });
});

describe("page_size", () => {
  test("is 50 by default and 1000 at most, on lists and groups of spans", async () => {
    const { prod } = await app.newOrganization();
    const logs = Array.from({ length: 60 }, (_, n) => ({ custom_identifier: `${n}` }));
    await storeSpans(prod, logs);
    for (const list of ["list/?", "groups/?group_by=custom_identifier&"]) {
      const at = `/api/request-logs/${list}`;
      expect(((await prod.post(at)).json as ListAnswer).results).toHaveLength(50);
      expect(((await prod.post(`${at}page_size=1000`)).json as ListAnswer).results).toHaveLength(60);
      expect((await prod.post(`${at}page_size=1001`)).status).toBe(400);
    }
  });
});
