import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import type { CustomerKey } from "../domain/customer.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import { createCustomerProfiles, type CustomerProfiles } from "./profiles.ts";

const key: CustomerKey = { organization_id: "org", environment: "prod", customer_identifier: "one" };
const nowMs = Date.parse("2026-03-01T10:00:00.000Z");

let stores: ControlStores;
let close: () => Promise<void>;
/** How many of the next reads are held back, with what they have read. */
let heldBack: number;
let held: Array<() => void>;
let profiles: CustomerProfiles;

beforeEach(async () => {
  ({ stores, close } = await openMemoryControl());
  const created_at = new Date(nowMs).toISOString();
  await stores.organizations.create({ unique_organization_id: "org", created_at, name: "", retention_days: null });
  [heldBack, held] = [0, []];
  profiles = createCustomerProfiles({
    customers: {
      ...stores.customers,
      find: async (wanted) => {
        const found = await stores.customers.find(wanted);
        heldBack -= 1;
        if (heldBack >= 0) await new Promise<void>((resolve) => held.push(resolve));
        return found;
      },
    },
    control: { orStale: (_kind, read) => read() },
    changed: () => undefined,
    now: () => nowMs,
  });
});
afterEach(() => close());

test("a call that reads a customer while it is changed does not hide the change from later calls", async () => {
  await profiles.create(key);
  profiles.evict(key);
  heldBack = 1;
  const read = profiles.findCached(key);
  await expect.poll(() => held.length).toBe(1);
  await profiles.edit(key, { total_budget: 5 });
  held[0]!();
  expect(await read).toMatchObject({ total_budget: null });
  expect(await profiles.findCached(key)).toMatchObject({ total_budget: 5 });
});

test("a call that looks for a customer while it is created does not hide it from later calls", async () => {
  heldBack = 1;
  const read = profiles.findCached(key);
  await expect.poll(() => held.length).toBe(1);
  await profiles.create(key);
  held[0]!();
  expect(await read).toBeUndefined();
  expect(await profiles.findCached(key)).toMatchObject({ customer_identifier: "one" });
});

test("the list of customers with limits does not replace what was changed since it was read", async () => {
  await profiles.create(key);
  await profiles.edit(key, { total_budget: 5 });
  const listed = (await stores.customers.listBounded(10)).map(({ customer }) => customer);
  await profiles.edit(key, { total_budget: 7 });
  profiles.learnBounded(listed, true);
  expect(await profiles.findCached(key)).toMatchObject({ total_budget: 7 });
});
