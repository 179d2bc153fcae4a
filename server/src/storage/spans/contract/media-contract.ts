import { randomUUID } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { storageLimits } from "../../limits.ts";
import { newOrganization, slowly, spanRow, type ContractDriver } from "./span-fixtures.ts";

export function describeMedia({ store, insert }: ContractDriver): void {
  const idOf = (letter: string) => letter.repeat(64);
  const insertMedia = async (organization_id: string, ids: readonly string[], texts: Record<string, string> = {}) => {
    const textOf = (id: string) => texts[id] ?? `text of ${id}`;
    const rows = ids.map((id) => ({ organization_id, id, media_type: "image/png", text: textOf(id) }));
    const ndjson = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    await store().insert({ ndjson, rows: rows.length, token: randomUUID(), table: "media" });
  };
  const idsOf = async (organization: string, ids: readonly string[]) =>
    (await store().readMedia({ organization_id: organization }, ids)).map(({ id }) => id).sort();

  describe("media", () => {
    it("is readable only if a span of the same organization refers to it", async () => {
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

    it("has no text if all texts exceed the limit, the largest first", async () => {
      const org = newOrganization();
      const ids = ["1", "2", "3"].map(idOf);
      const [small = "", large = "", smaller = ""] = ids;
      const texts = { [small]: "x".repeat(20), [large]: "x".repeat(50), [smaller]: "x".repeat(10) };
      await insertMedia(org, ids, texts);
      await insert([spanRow(org, { media_ids: ids })]);
      const lengths = async (maxChars: number) => {
        const media = await store().readMedia({ organization_id: org }, ids, { maxChars });
        return Object.fromEntries(media.map(({ id, text }) => [id, text.length]));
      };
      expect(await lengths(80)).toEqual({ [small]: 20, [large]: 50, [smaller]: 10 });
      expect(await lengths(79)).toEqual({ [small]: 20, [large]: 0, [smaller]: 10 });
      expect(await lengths(10)).toEqual({ [small]: 0, [large]: 0, [smaller]: 10 });
    });

    it("is swept in one run, however much there is", async () => {
      const org = newOrganization();
      const ids = Array.from({ length: storageLimits.mediaSweepRows + 1 }, (_, i) => i.toString(16).padStart(64, "0"));
      await insertMedia(org, ids);
      await store().sweepMedia(Date.now() + 60_000);
      await insert([spanRow(org, { media_ids: ids.slice(0, 1_000) }), spanRow(org, { media_ids: ids.slice(1_000) })]);
      const [first = "", last = ""] = [ids[0], ids.at(-1)];
      await vi.waitFor(async () => expect(await idsOf(org, [first, last])).toEqual([]), slowly);
    });

    it("stays as long as any span refers to it, and is swept when it is old and unused", async () => {
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
