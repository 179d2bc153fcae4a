import { randomUUID } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { newOrganization, slowly, spanRow, type ContractDriver } from "./span-fixtures.ts";

export function describeMedia({ store, insert }: ContractDriver): void {
  const idOf = (letter: string) => letter.repeat(64);
  const insertMedia = async (organization_id: string, ids: readonly string[]) => {
    const rows = ids.map((id) => ({ organization_id, id, media_type: "image/png", text: `text of ${id}` }));
    const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    await store().insert({ ndjson, rows: rows.length, token: randomUUID(), table: "media" });
  };
  const idsOf = async (organization: string, ids: readonly string[]) =>
    (await store().readMedia({ organization_id: organization }, ids)).map(({ id }) => id).sort();

  describe("media", () => {
    it("is read by those that a span of the same organization refers to", async () => {
      const [org, other] = [newOrganization(), newOrganization()];
      const [used, unused] = [idOf("a"), idOf("b")];
      await insertMedia(org, [used, used, unused]);
      await insertMedia(other, [used]);
      await insert([spanRow(org, { media_ids: [used] })]);
      expect(await store().readMedia({ organization_id: org }, [used, unused, used, "'; --"])).toEqual([
        { id: used, media_type: "image/png", text: `text of ${used}` },
      ]);
      expect(await idsOf(other, [used])).toEqual([]);
    });

    it("stays as long as any span refers to it, and is swept once it is old and unused", async () => {
      const org = newOrganization();
      const [used, unused, again] = [idOf("c"), idOf("d"), idOf("e")];
      await insertMedia(org, [used, unused, again]);
      await insert([spanRow(org, { media_ids: [used] })]);
      await store().sweepMedia(Date.now() - 60_000);
      await store().sweepMedia(Date.now() + 60_000);
      await insert([spanRow(org, { media_ids: [unused, again] })]);
      await vi.waitFor(async () => expect(await idsOf(org, [used, unused, again])).toEqual([used]), slowly);
    });
  });
}
