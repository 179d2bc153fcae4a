import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { SpanChange } from "../../../domain/span-edit.ts";
import { indexMetadata, pathSeparator } from "../../../filter/metadata-index.ts";
import { storageLimits } from "../../limits.ts";
import { rawReader, type RawSpan } from "../raw-span.ts";
import {
  conditionOf,
  descending,
  everythingOf,
  firstPage,
  listOf,
  mostFirst,
  newOrganization,
  nsAt,
  slowly,
  spanRow,
  timeAt,
  type ContractDriver,
} from "./span-fixtures.ts";

const fields = ["note", "is_pinned", "positive_feedback", "metadata"] as const;
const stated = { note: "sent", positive_feedback: true, metadata: '{"plan":"pro"}', metadata_index: { plan: "pro" } };

const beforeMargin = () => Date.now() - storageLimits.editMarginMs - 60_000;

export function describeEdits({ store, insert, once }: ContractDriver): void {
  const edit = (org: string, unique_id: string, change: SpanChange, nowMs = Date.now()) =>
    store().editSpans(org, [{ unique_id, change }], nowMs);
  const shown = async (org: string) => {
    const { rows } = await store().listSpans(listOf(org, { fields }));
    return rows.map(({ note, is_pinned, positive_feedback, metadata }) => ({
      note,
      is_pinned,
      positive_feedback,
      metadata,
    }));
  };
  const countOf = async (org: string, filters: Record<string, unknown>) =>
    (await store().listSpans(listOf(org, { filter: conditionOf(filters) }))).count;

  describe("edits of spans", () => {
    it("apply to rows, filters, orders and groups, of their organization only", async () => {
      const [org, other] = [newOrganization(), newOrganization()];
      const [row, untouched] = [spanRow(org, stated), spanRow(org, { timestamp: timeAt(1), ...stated })];
      await insert([row, untouched, { ...spanRow(other, stated), unique_id: row.unique_id }]);
      await edit(org, row.unique_id, { note: null, is_pinned: true, metadata: { plan: "free", n: 5 } });
      const own = { note: "sent", is_pinned: null, positive_feedback: true, metadata: '{"plan":"pro"}' };
      const edited = { ...own, note: "", is_pinned: true, metadata: '{"plan":"free","n":5}' };
      expect(await shown(org)).toEqual([own, edited]);
      expect(await shown(other)).toEqual([own]);
      expect(await store().retrieveSpan({ organization_id: org }, row.unique_id)).toMatchObject({
        ...edited,
        metadata_index: { plan: "free", n: "5" },
      });
      const counts = [{ is_pinned: true }, { metadata__plan: "free" }, { note: "sent" }, { metadata__n: 5 }];
      expect(await Promise.all(counts.map((filters) => countOf(org, filters)))).toEqual([1, 1, 1, 1]);
      expect(await Promise.all(counts.map((filters) => countOf(other, filters)))).toEqual([0, 0, 1, 0]);
      for (const sort of [descending("is_pinned"), { ...descending("timestamp"), metadata: "n" }]) {
        const { rows } = await store().listSpans(listOf(org, { sort }));
        expect(rows[0]?.unique_id).toBe(row.unique_id);
      }
      const query = { ...everythingOf(org), ...firstPage, groupBy: ["metadata__plan"] as const, sort: mostFirst };
      const { rows: groups } = await store().groupSpans(query);
      expect(groups.map(({ text }) => text).sort()).toEqual(["free", "pro"]);
      const filter = conditionOf({ metadata__plan: "free" });
      expect((await store().summarizeSpans({ ...everythingOf(org), filter })).number_of_requests).toBe(1);
    });

    once("of one key of metadata do not affect filters, orders and groups by other keys", async () => {
      const org = newOrganization();
      const metadata = { plan: "pro", a__b: 1, a: { b: 2, c: 3 } };
      const row = spanRow(org, { metadata: JSON.stringify(metadata), metadata_index: indexMetadata(metadata) });
      await insert([row]);
      const found = (filters: Record<string, unknown>[]) =>
        Promise.all(filters.map((each) => countOf(org, { model: { operator: "isnull", value: [true] }, ...each })));
      const filters = [{ metadata__plan: "pro" }, { metadata__a__b: 1 }, { metadata__a__c: 3 }, { "metadata.a__c": 3 }];
      expect(await found(filters)).toEqual([1, 1, 1, 1]);
      await edit(org, row.unique_id, { metadata: { other: 1 } });
      expect(await found([...filters, { metadata__other: 1 }])).toEqual([1, 1, 1, 1, 1]);
      await edit(org, row.unique_id, { metadata: { a__b: null } });
      expect(await found([{ metadata__a__b: 1 }, { metadata__a__b: 2 }, { metadata__a__c: 3 }])).toEqual([0, 1, 1]);
      await edit(org, row.unique_id, { metadata: { a: { b: 5 } } });
      expect(await found([{ metadata__a__b: 5 }, { metadata__a__b: 2 }, { metadata__a__c: 3 }])).toEqual([1, 0, 0]);
      const query = { ...everythingOf(org), ...firstPage, sort: mostFirst };
      for (const [groupBy, text] of [
        ["metadata__a__b", "5"],
        ["metadata__other", "1"],
        ["metadata__plan", "pro"],
      ] as const) {
        const { rows } = await store().groupSpans({ ...query, groupBy: [groupBy] });
        expect(rows.map((group) => group.text)).toEqual([text]);
      }
    });

    once("replace earlier ones, whatever the clock says; other edits of the span stay", async () => {
      const org = newOrganization();
      const row = spanRow(org, stated);
      await insert([row]);
      const [now, before] = [Date.now(), Date.now() - 3_600_000];
      await edit(org, row.unique_id, { note: "first", metadata: { a: 1 } }, now);
      await edit(org, row.unique_id, { note: "second", metadata: { b: 2 } }, before);
      await store().editSpans(
        org,
        [
          { unique_id: row.unique_id, change: { positive_feedback: false } },
          { unique_id: row.unique_id, change: { positive_feedback: null } },
        ],
        before,
      );
      const [only] = await shown(org);
      expect(only).toMatchObject({ note: "second", positive_feedback: null });
      expect(JSON.parse(only?.metadata ?? "")).toEqual({ plan: "pro", a: 1, b: 2 });
      const edits = await store().readEdits({ organization_id: org }, [row.unique_id, randomUUID()]);
      expect([...edits]).toEqual([
        [
          row.unique_id,
          {
            note: "second",
            positive_feedback: null,
            metadata: new Map([
              ["a", "1"],
              ["b", "2"],
            ]),
          },
        ],
      ]);
    });

    it("still apply to a span that is resent, even with another time", async () => {
      const org = newOrganization();
      const row = spanRow(org, stated);
      await insert([row]);
      await edit(org, row.unique_id, { note: "kept", metadata: { plan: "free" } });
      await insert([
        { ...row, version: "2", is_deleted: 1 },
        { ...row, version: "3", timestamp: timeAt(9), note: "again", metadata: '{"plan":"max","late":1}' },
      ]);
      expect(await shown(org)).toMatchObject([{ note: "kept", metadata: '{"plan":"free","late":1}' }]);
      expect(await countOf(org, { metadata__plan: "free" })).toBe(1);
      expect(await store().findSpans({ organization_id: org }, [row.unique_id, "nonsense"])).toMatchObject([
        { timestamp: timeAt(9), version: "3" },
      ]);
    });

    it("apply to the spans of a trace, however they are read", async () => {
      const org = newOrganization();
      const rows = [0, 1].map((second) =>
        spanRow(org, { ...stated, trace_unique_id: "t", timestamp: timeAt(second), start_time: timeAt(second) }),
      );
      await insert(rows);
      await edit(org, rows[0]?.unique_id ?? "", { note: "é😀", is_pinned: true, metadata: { plan: "frei ü" } });
      const columns = ["unique_id", "timestamp", "note", "is_pinned", "positive_feedback", "metadata"] as const;
      const of = { scope: { organization_id: org }, traceId: "t", columns };
      const range = { first: timeAt(0), last: timeAt(1) };
      const read: RawSpan[] = [];
      await store().readTraceSpans({ ...of, range, limit: 10 }, (span) => void read.push(span));
      const ways = [
        (await store().readSmallTrace(of)) ?? [],
        await store().listTraceSpans({ ...of, range, limit: 10 }),
        read,
      ];
      const shape = rawReader(columns);
      for (const spans of ways) {
        const own = spans.map(shape).sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
        expect(own).toMatchObject([
          { note: "é😀", is_pinned: true, positive_feedback: true, metadata: '{"plan":"frei ü"}' },
          { note: "sent", is_pinned: null, positive_feedback: true, metadata: '{"plan":"pro"}' },
        ]);
      }
    });

    it("are deleted with deleted and expired spans, and stay with resent ones", async () => {
      const org = newOrganization();
      const old = { received_at: timeAt(0) };
      const [deleted, aged, renewed] = [
        spanRow(org, { ...stated, trace_unique_id: "gone" }),
        spanRow(org, { ...stated, ...old }),
        spanRow(org, { ...stated, ...old }),
      ];
      const all = [deleted, aged, renewed];
      await insert(all);
      for (const row of all) await edit(org, row.unique_id, { note: "edited" }, beforeMargin());
      const edited = async () => {
        const edits = await store().readEdits(
          { organization_id: org },
          all.map((row) => row.unique_id),
        );
        return all.filter((row) => edits.has(row.unique_id));
      };
      expect(await edited()).toEqual(all);
      const place = { organization_id: org, environment: "prod", trace_unique_id: "gone" } as const;
      await store().deleteTraces([{ ...place, fromNs: nsAt(0), toNs: nsAt(0), deletedAtMs: 0 }]);
      await vi.waitFor(async () => expect(await edited()).toEqual([aged, renewed]), slowly);
      await insert([{ ...renewed, version: "2", received_at: timeAt(9) }]);
      await store().deleteExpired(new Map([[org, nsAt(5)]]));
      await vi.waitFor(async () => expect(await edited()).toEqual([renewed]), slowly);
      await vi.waitFor(async () => expect(await shown(org)).toMatchObject([{ note: "edited" }]), slowly);
    });

    it("stay while their span may not have arrived, and are deleted by a later round", async () => {
      const org = newOrganization();
      const [absent, late] = [spanRow(org), spanRow(org)];
      await edit(org, absent.unique_id, { note: "of no span" }, beforeMargin());
      await edit(org, late.unique_id, { note: "of a span that arrives later" });
      const edited = async () =>
        (await store().readEdits({ organization_id: org }, [absent.unique_id, late.unique_id])).keys().toArray();
      await store().deleteExpired(new Map([[org, nsAt(5)]]));
      await vi.waitFor(async () => expect(await edited()).toEqual([late.unique_id]), slowly);
      await insert([{ ...late, received_at: timeAt(9) }]);
      expect((await shown(org)).map(({ note }) => note)).toEqual(["of a span that arrives later"]);
    });

    once("change any metadata in statements as they do in rows", async () => {
      const org = newOrganization();
      const key = fc.constantFrom(
        "a",
        "b",
        "a.b",
        "a__b",
        "",
        "é😀",
        'quo"te',
        "back\\slash",
        "new\nline",
        "a/b",
        "\u2028",
      );
      const value = fc.oneof(
        fc.constantFrom<unknown>("", "text", 'é\\ " \n 😀', true, false, null, 0, -1.5, 1e21, 123456789012345),
        fc.dictionary(key, fc.constantFrom<unknown>("x", 1, null, ["y", { z: 2 }]), { maxKeys: 3 }),
        fc.array(fc.constantFrom<unknown>("x", 1, null), { maxLength: 2 }),
      );
      const metadata = fc.dictionary(key, value, { maxKeys: 5 });
      const cases = fc.sample(fc.tuple(metadata, fc.array(metadata, { minLength: 1, maxLength: 3 })), 200);
      const rows = cases.map(([sent], n) =>
        spanRow(org, {
          timestamp: timeAt(n % 60),
          metadata: Object.keys(sent).length === 0 && n % 2 === 0 ? "" : JSON.stringify(sent),
          metadata_index: indexMetadata(sent),
        }),
      );
      await insert(rows);
      const edits = cases.flatMap(([, changes], n) =>
        changes.map((changed) => ({ unique_id: rows[n]?.unique_id ?? "", change: { metadata: changed } })),
      );
      for (let at = 0; at < edits.length; at += storageLimits.bulkRows) {
        await store().editSpans(org, edits.slice(at, at + storageLimits.bulkRows), Date.now());
      }
      const expected = new Map(
        cases.map(([sent, changes], n) => {
          const merged = new Map(Object.entries(sent));
          for (const [name, changed] of changes.flatMap((each) => Object.entries(each))) {
            if (changed === null) merged.delete(name);
            else merged.set(name, changed);
          }
          return [rows[n]?.unique_id ?? "", Object.fromEntries(merged)];
        }),
      );
      const listed = await store().listSpans(
        listOf(org, { fields: ["metadata", "metadata_index"], pageSize: rows.length }),
      );
      const pieces: Uint8Array[] = [];
      await store().exportSpans(
        { ...everythingOf(org), format: "jsonl", fields: ["unique_id", "metadata"] },
        async (bytes) => void pieces.push(Buffer.from(bytes)),
        new AbortController().signal,
      );
      const exported = Buffer.concat(pieces).toString("utf8").trimEnd().split("\n");
      const keys = new Map<string, number>();
      for (const { unique_id, metadata: text, metadata_index } of listed.rows) {
        const merged = expected.get(unique_id) ?? {};
        expect(text === "" ? {} : JSON.parse(text ?? "")).toEqual(merged);
        expect(metadata_index).toEqual({ ...indexMetadata(merged) });
        for (const path of Object.keys(indexMetadata(merged))) keys.set(path, (keys.get(path) ?? 0) + 1);
      }
      expect(exported).toHaveLength(rows.length);
      for (const line of exported) {
        const { unique_id, metadata: shownThere } = JSON.parse(line) as { unique_id: string; metadata: unknown };
        expect(shownThere).toEqual(expected.get(unique_id));
      }
      const facets = await store().facetSpans({ ...everythingOf(org), fields: ["model"], limit: 1_000, search: "" });
      const counted = facets.metadataKeys.map(({ key: name, count }) => [name, count] as const);
      const byName = new Map<string, number>();
      for (const [path, count] of keys) {
        const name = path.split(pathSeparator).join("__");
        byName.set(name, (byName.get(name) ?? 0) + count);
      }
      const summed = new Map<string, number>();
      for (const [name, count] of counted) summed.set(name, (summed.get(name) ?? 0) + count);
      expect(summed).toEqual(byName);
    });
  });
}
