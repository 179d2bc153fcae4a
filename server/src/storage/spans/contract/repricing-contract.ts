import { describe, expect, it, vi } from "vitest";
import type { RepricedSpan } from "../span-editing.ts";
import { listOf, newOrganization, slowly, spanRow, type ContractDriver } from "./span-fixtures.ts";

const price = { cost: 2.5, price_version: "own", cost_details: '{"lines":[]}', unpriced: "" };

export function describeRepricing({ store, insert }: ContractDriver): void {
  const fields = ["cost", "cost_source", "cost_details", "input", "metadata"] as const;
  const spansOf = async (organization: string) => (await store().listSpans(listOf(organization, { fields }))).rows;
  const changesOf = async (organization: string): Promise<RepricedSpan[]> =>
    (await spansOf(organization)).map(({ timestamp, unique_id, environment, version }) => ({
      timestamp,
      unique_id,
      environment,
      version,
      ...price,
    }));

  describe("repricing", () => {
    it("writes cost and receipt of the spans of the scope only, and keeps everything else", async () => {
      const [org, other] = [newOrganization(), newOrganization()];
      const stated = { cost: 1, input: "é\u0000'\\N", metadata: '{"a":"1"}' };
      await insert([spanRow(org, stated), spanRow(other, stated)]);
      const changes = await changesOf(org);
      await store().repriceSpans({ organization_id: other }, changes);
      await store().repriceSpans({ organization_id: org, environment: "test" }, changes);
      await store().repriceSpans({ organization_id: org, environment: "prod" }, changes);
      await vi.waitFor(async () => expect(await spansOf(org)).toMatchObject([{ cost: 2.5 }]), slowly);
      expect(await spansOf(org)).toMatchObject([
        { ...stated, cost: 2.5, cost_source: "computed", cost_details: price.cost_details },
      ]);
      expect(await spansOf(other)).toMatchObject([stated]);
    });

    it("skips spans that were resent or deleted in the meantime", async () => {
      const org = newOrganization();
      const [again, deleted] = [spanRow(org, { cost: 1 }), spanRow(org, { cost: 1 })];
      await insert([again, deleted]);
      const changes = await changesOf(org);
      await insert([
        { ...again, version: "100", cost: 7 },
        { ...deleted, version: "100", is_deleted: 1 },
      ]);
      await store().repriceSpans({ organization_id: org }, changes);
      expect(await spansOf(org)).toMatchObject([{ unique_id: again.unique_id, cost: 7 }]);
    });
  });
}
