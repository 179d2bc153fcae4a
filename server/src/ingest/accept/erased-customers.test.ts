import { expect, test } from "vitest";
import { createErasedCustomers, customerFingerprint } from "./erased-customers.ts";

const keyOf = (organization_id: string, customer_identifier: string) =>
  ({ organization_id, environment: "prod", customer_identifier }) as const;
const erasureOf = (organization: string, customer: string, erasedAtMs: number) => {
  const key = keyOf(organization, customer);
  return { ...key, fingerprint: customerFingerprint(key), erasedAtMs };
};

test("beyond its bound, evicts the oldest of the tenant with the most", () => {
  const erased = createErasedCustomers(3);
  erased.add(erasureOf("small", "ann", 1));
  for (const [index, name] of ["a", "b", "c"].entries()) erased.add(erasureOf("large", name, index + 2));
  const known = (organization: string, name: string) => erased.erasedAtNs(keyOf(organization, name)) !== undefined;
  expect([known("small", "ann"), known("large", "a"), known("large", "b"), known("large", "c")]).toEqual([
    true,
    false,
    true,
    true,
  ]);
  expect(erased.stats()).toEqual({ customers: 3, evicted: 1 });
});

test("the latest deletion counts, in any order of arrival", () => {
  const erased = createErasedCustomers();
  expect(erased.add(erasureOf("org", "ann", 5))).toBe(true);
  expect(erased.add(erasureOf("org", "ann", 3))).toBe(false);
  expect(erased.erasedAtNs(keyOf("org", "ann"))).toBe(5_999_999n);
  for (const other of [
    keyOf("org", "bob"),
    keyOf("other", "ann"),
    { ...keyOf("org", "ann"), environment: "test" as const },
  ])
    expect(erased.erasedAtNs(other)).toBeUndefined();
});
