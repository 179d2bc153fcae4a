import { expect, test } from "vitest";
import { formatUuid, isDerived, newIdentity, spanIdentity } from "./identity.ts";

test("random identities are random UUIDs and differ from derived ones", () => {
  const random = Array.from({ length: 1_000 }, newIdentity);
  const texts = random.map(formatUuid);
  for (const text of texts) expect(text).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(new Set(texts).size).toBe(random.length);
  // Every bit that is not fixed is random: a thousand ids contain both values of it.
  for (let at = 0; at < 16; at += 1) {
    const seen =
      random.reduce((bits, identity) => bits | (identity[at] ?? 0) | (~(identity[at] ?? 0) << 8), 0) & 0xffff;
    expect(seen).toBe(at === 6 ? 0xbf4f : at === 8 ? 0x7fbf : 0xffff);
  }
  expect(random.some(isDerived)).toBe(false);
  const parts = { organization_id: "a", environment: "prod", trace: "t", span: "s" };
  expect(isDerived(spanIdentity(parts))).toBe(true);
  expect(formatUuid(spanIdentity(parts))).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
});

test("spans of one trace share the first half of their ids, by which a cluster shards them", () => {
  const idOf = (trace: string, span: string, environment = "prod") =>
    formatUuid(spanIdentity({ organization_id: "a", environment, trace, span }));
  const halves = ["one", "other", ""].map((span) => idOf("t", span).slice(0, 18));
  expect(new Set(halves).size).toBe(1);
  for (const other of [idOf("u", "one"), idOf("t", "one", "test")]) expect(other.slice(0, 18)).not.toBe(halves[0]);
});
