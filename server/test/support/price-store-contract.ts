import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ModelPriceFields } from "../../src/domain/model-price.ts";
import { pricingLimits } from "../../src/pricing/limits.ts";
import { createPriceChanges } from "../../src/pricing/own/change-prices.ts";
import { createOwnPrices } from "../../src/pricing/own/own-prices.ts";
import type { ControlStores } from "../../src/storage/control/control-stores.ts";

const atNs = BigInt(Date.UTC(2026, 5, 1)) * 1_000_000n;
const price = (model: string, input = 1): ModelPriceFields => ({
  model,
  provider: "",
  rates: { input },
  valid_from: null,
  valid_to: null,
});

/** An organization's own prices, as several nodes read them. */
export function describePriceStores(open: () => ControlStores): void {
  const newNode = () => {
    const stores = open();
    const cache = createOwnPrices({ ...stores, onUnreadable: () => {} });
    const inputOf = (owner: string, model: string) =>
      cache.find(owner, model, "", atNs)?.periods[0]?.steps[0]?.rates.input;
    return { cache, inputOf, changes: createPriceChanges({ stores, now: Date.now }), stores };
  };

  describe("model prices", () => {
    test("M14: a change on one node applies on the other after a refresh", async () => {
      const [one, two, owner] = [newNode(), newNode(), `org_${randomUUID()}`];
      const made = await one.changes.create(owner, price("a"));
      await one.changes.create(owner, price("b"));
      await two.cache.refresh();
      expect([two.inputOf(owner, "a"), two.inputOf(owner, "b")]).toEqual([1, 1]);
      await one.changes.update(owner, made.id, { rates: { input: 2 } });
      await one.changes.create(owner, price("c"));
      expect(two.inputOf(owner, "a")).toBe(1);
      await two.cache.refresh();
      expect([two.inputOf(owner, "a"), two.inputOf(owner, "c")]).toEqual([2, 1]);
      await one.changes.delete(owner, made.id);
      await two.cache.refresh();
      expect([two.inputOf(owner, "a"), two.inputOf(owner, "b")]).toEqual([undefined, 1]);
    });

    test("M14: the operator's price applies to all organizations, after an organization's own price", async () => {
      const [node, owner, model] = [newNode(), `org_${randomUUID()}`, randomUUID()];
      const { id } = await node.changes.create(null, price(model, 5));
      await node.cache.refresh();
      expect(node.inputOf(owner, model)).toBe(5);
      await node.changes.create(owner, price(model, 6));
      await node.cache.refresh();
      expect([node.inputOf(owner, model), node.inputOf("org_other", model)]).toEqual([6, 5]);
      await node.changes.delete(null, id);
      await node.cache.refresh();
      expect([node.inputOf(owner, model), node.inputOf("org_other", model)]).toEqual([6, undefined]);
    });

    test("M14: of many prices of one model that two nodes create at the same time, one is created", async () => {
      const [one, two, owner] = [newNode(), newNode(), `org_${randomUUID()}`];
      const tries = await Promise.allSettled(
        Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? one : two).changes.create(owner, price("m", at))),
      );
      expect(tries.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(await one.stores.modelPrices.list(owner, { offset: 0, limit: 10 })).toMatchObject({ count: 1 });
    });

    test("M14: no other organization finds, changes or deletes a price", async () => {
      const [node, owner] = [newNode(), `org_${randomUUID()}`];
      const { id } = await node.changes.create(owner, price("m"));
      for (const other of ["org_other", null]) {
        await expect(node.changes.update(other, id, { rates: { input: 0 } })).rejects.toMatchObject({
          code: "not_found",
        });
        await expect(node.changes.delete(other, id)).rejects.toMatchObject({ code: "not_found" });
        expect(await node.stores.modelPrices.find(other, id)).toBeUndefined();
      }
      expect(await node.stores.modelPrices.find(owner, id)).toMatchObject({ rates: { input: 1 } });
    });

    test("M14: the number of patterns is limited", async () => {
      const [{ stores, changes }, owner] = [newNode(), `org_${randomUUID()}`];
      await stores.transaction(async ({ modelPrices }) => {
        const revision = await modelPrices.announce(owner, { isRemoval: false });
        for (let at = 0; at < pricingLimits.modelPricePatterns; at += 1) {
          const times = { created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-01-01T00:00:00.000Z" };
          const row = { id: randomUUID(), unique_organization_id: owner, ...price(`m${at}-*`), ...times };
          await modelPrices.create(row, revision);
        }
      });
      await expect(changes.create(owner, price("one-more-*"))).rejects.toMatchObject({ code: "conflict" });
      await expect(changes.create(owner, price("without"))).resolves.toMatchObject({ model: "without" });
    });
  });
}
