import { afterAll, beforeAll, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import { createPasswords } from "../auth/passwords.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { runAdmin } from "./run-admin.ts";

let stores: ControlStores;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ stores, close } = await openMemoryControl());
});
afterAll(() => close());

const never = () => Promise.reject(new Error("opened a store for nothing"));
const nowMs = () => Date.parse("2026-03-01T10:00:00.000Z");

const run = (words: string[], models: string[][] = []) =>
  runAdmin(words, async () => ({
    context: {
      stores,
      passwords: createPasswords({ n: 2 ** 10, r: 8, p: 1 }),
      nowMs,
      withQuarantine: never,
      recomputeUsage: never,
      acceptSecretKey: never,
      listUnpriced: async ([organizationId = ""]) =>
        models.map(([model = "", provider_id = ""]) => ({
          organizationId,
          model,
          provider_id,
          spans: 3,
          last_timestamp: "2026-02-28 09:00:00.000000000",
        })),
    },
    close: async () => {},
  }));

test.each([['{"input":-1}'], ['{"tokens":1}'], ["1"], ["{"], ["{}"]])(
  "M14: prices set refuses --rates %s",
  async (rates) => {
    const { code, stderr } = await run(["prices", "set", "--model", "m", "--rates", rates]);
    expect([code > 0, stderr.includes("rates")]).toEqual([true, true]);
  },
);

test("M14: prices set refuses a pattern that matches everything, and an unknown organization", async () => {
  const rates = ["--rates", '{"input":1}'];
  expect((await run(["prices", "set", "--model", "*", ...rates])).stderr).toMatch(/fits every model/);
  const nowhere = ["--organization", "org_nowhere"];
  expect((await run(["prices", "set", "--model", "m", ...rates, ...nowhere])).code).toBe(1);
});

test("M14: a file is one word, and has to exist", async () => {
  expect((await run(["prices", "update"])).stderr).toMatch(/^FILE is missing/);
  expect((await run(["prices", "update", "a", "b"])).stderr).toMatch(/^b is one word too many/);
  expect((await run(["prices", "update", "/nowhere/prices.json"])).stderr).toMatch(/cannot be read/);
  expect((await run(["prices", "list", "a"])).stderr).toMatch(/^a is one word too many/);
  expect((await run(["prices", "update", "--help"])).stdout).toMatch(/prices update FILE/);
});

test("M14: prices check reports which of the models without a price have one by now", async () => {
  await run(["organizations", "create", "--name", "Acme", "--id", "acme"]);
  await run(["prices", "set", "--model", "lab-2", "--rates", '{"input":1,"output":1}', "--organization", "acme"]);
  const { stdout } = await run(
    ["prices", "check", "--json"],
    [
      ["lab-1", "my-lab"],
      ["lab-2", "my-lab"],
    ],
  );
  const row = { organization: "acme", provider: "my-lab", spans: 3, last: "2026-02-28 09:00:00" };
  expect(JSON.parse(stdout)).toEqual([
    { ...row, model: "lab-1", price: "none" },
    { ...row, model: "lab-2", price: "has one now: reprice" },
  ]);
  expect((await run(["prices", "check"], [])).stdout).toBe("None.");
  expect((await run(["prices", "check", "--days", "x"])).code).toBe(2);
});
