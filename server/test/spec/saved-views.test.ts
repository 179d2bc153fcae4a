import { afterAll, beforeAll, expect, test } from "vitest";
import { apiLimits } from "../../src/api/limits.ts";
import { storageLimits } from "../../src/storage/limits.ts";
import { bodyOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { Answer, ListAnswer, TestClient } from "../support/test-client.ts";

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());

const path = "/api/saved-views/";
const save = (client: TestClient, fields: Record<string, unknown> = {}): Promise<Answer> =>
  client.post(path, { screen: "logs", name: "Errors", search: "q=status%3Aerror&range=7d", ...fields });
const namesOf = async (client: TestClient, query = ""): Promise<unknown[]> =>
  ((await client.get(`${path}?${query}`)).json as ListAnswer).results.map(({ name }) => name);

test("a view is listed for everybody in the organization, in both environments, and nobody else", async () => {
  const [own, other] = [await app.newOrganization(), await app.newOrganization()];
  const made = await save(own.prod);
  expect(made.status).toBe(201);
  expect(made.json).toEqual({
    id: expect.any(String),
    screen: "logs",
    name: "Errors",
    search: "q=status%3Aerror&range=7d",
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
  });
  expect((await own.test.get(path)).json).toMatchObject({ count: 1, results: [made.json] });
  const url = `${path}${String(bodyOf(made)["id"])}/`;
  expect(await namesOf(other.prod)).toEqual([]);
  expect((await other.prod.request("PATCH", url, { name: "Mine" })).status).toBe(404);
  expect((await other.prod.request("DELETE", url)).status).toBe(404);
  expect(await namesOf(own.prod)).toEqual(["Errors"]);
});

test("views are listed by name, those of one screen on request", async () => {
  const { prod } = await app.newOrganization();
  for (const fields of [{ name: "b" }, { name: "a" }, { name: "a", screen: "customers" }]) await save(prod, fields);
  expect(await namesOf(prod, "screen=logs")).toEqual(["a", "b"]);
  expect(await namesOf(prod, "page_size=2&page=2")).toEqual(["b"]);
});

test("a view is changed and deleted", async () => {
  const { prod } = await app.newOrganization();
  const made = bodyOf(await save(prod));
  const url = `${path}${String(made["id"])}/`;
  expect(bodyOf(await prod.request("PATCH", url, { search: "" }))).toMatchObject({ name: "Errors", search: "" });
  expect(bodyOf(await prod.request("PATCH", url, { name: "Failures" }))).toMatchObject({
    name: "Failures",
    search: "",
  });
  expect(await namesOf(prod)).toEqual(["Failures"]);
  expect((await prod.request("DELETE", url)).status).toBe(204);
  expect(await namesOf(prod)).toEqual([]);
  expect((await prod.request("DELETE", url)).status).toBe(404);
});

test("names are unique per screen, also when two save it at the same time", async () => {
  const { prod } = await app.newOrganization();
  const answers = await Promise.all([save(prod), save(prod), save(prod, { screen: "customers" })]);
  expect(answers.map(({ status }) => String(status)).sort()).toEqual(["201", "201", "409"]);
  const other = bodyOf(await save(prod, { name: "Other" }));
  const renamed = await prod.request("PATCH", `${path}${String(other["id"])}/`, { name: "Errors" });
  expect([renamed.status, bodyOf(renamed)["errors"]]).toEqual([
    409,
    { name: [expect.stringContaining("name already")] },
  ]);
});

test.each([
  ["screen", { screen: "../logs" }],
  ["name", { name: " " }],
  ["name", { name: "a\u0000b" }],
  ["search", { search: "x".repeat(apiLimits.savedViewSearchChars + 1) }],
  ["search", { search: null }],
])("a bad %s is refused by its name", async (field, fields) => {
  const { prod } = await app.newOrganization();
  const answer = await save(prod, fields);
  expect(answer.status).toBe(400);
  expect(Object.keys(bodyOf(answer)["errors"] as object)).toEqual([field]);
});

test("a lone surrogate in a search is returned, stored and compared as the same text", async () => {
  const { prod } = await app.newOrganization();
  const answer = await save(prod, { name: "🙂", search: "q=\udfff" });
  expect(answer).toMatchObject({ status: 201, json: { name: "🙂", search: "q=\ufffd" } });
});

test("an organization has a bounded number of views", async () => {
  const { prod } = await app.newOrganization();
  for (let i = 0; i < storageLimits.savedViewsPerOrganization; i += 1) await save(prod, { name: `view ${i}` });
  const answer = await save(prod, { name: "one more" });
  expect([answer.status, answer.text]).toEqual([409, expect.stringContaining("saved views already")]);
});

test.each(["\u200B", " \u00AD ", "\u3164", "\u2800"])(
  "an invisible name is refused, naming the field: %j",
  async (name) => {
    const { prod } = await app.newOrganization();
    expect(await save(prod, { name })).toMatchObject({ status: 400, json: { errors: { name: [expect.any(String)] } } });
    expect((await save(prod, { name: `${name}👨‍👩‍👧 é` })).status).toBe(201);
  },
);
