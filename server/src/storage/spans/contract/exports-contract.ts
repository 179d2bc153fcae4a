import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../domain/errors.ts";
import { readExport } from "../../../../test/support/exports.ts";
import { exportFormats, type ExportFormat } from "../span-export.ts";
import type { SpanStore } from "../span-store.ts";
import { everythingOf, keyOf, newOrganization, spanRow, type ContractDriver } from "./span-fixtures.ts";

const fields = ["unique_id", "output", "counted_cost"];

/** JSON has no -0. */
const withoutMinusZero = (value: number): number => value + 0;

async function exported(store: SpanStore, org: string, format: ExportFormat, names = fields): Promise<unknown[][]> {
  const pieces: Uint8Array[] = [];
  const query = { ...everythingOf(org), format, fields: names };
  const take = async (bytes: Uint8Array) => void pieces.push(Buffer.from(bytes));
  await store.exportSpans(query, take, new AbortController().signal);
  const file = Buffer.concat(pieces);
  const rows = await readExport(format, file);
  return rows.map((row) => names.map((name) => row[name]));
}

export function describeExports({ store, insert }: ContractDriver): void {
  describe.each(exportFormats)("an export as %s", (format) => {
    it("has each span of the organization once, in its last version, and no deleted ones", async () => {
      const org = newOrganization();
      const first = spanRow(org, { output: "old", cost: 1 });
      const deleted = spanRow(org, { output: "deleted" });
      const others = Array.from({ length: 3_000 }, (_, n) => spanRow(org, { output: `other ${n}`, cost: 2 }));
      await insert([first, deleted, ...others, spanRow(newOrganization(), { output: "of others" })]);
      await insert([
        { ...keyOf(first), version: "2", output: 'n"e,w\n', cost: 3 },
        { ...keyOf(deleted), version: "2", is_deleted: 1 },
      ]);
      const cost = (usd: number) => (format === "csv" ? String(usd) : usd);
      const rows = await exported(store(), org, format);
      const expected = [
        [first.unique_id, 'n"e,w\n', cost(3)],
        ...others.map((row) => [row.unique_id, row.output, cost(2)]),
      ];
      const sorted = (list: unknown[][]) => list.map((row) => JSON.stringify(row)).sort();
      expect(sorted(rows)).toEqual(sorted(expected));
    });

    it("has every finite number exactly", async () => {
      const org = newOrganization();
      const bounds = [5e-324, -5e-324, 2.2250738585072014e-308, Number.MAX_VALUE, 1e46, 1e-30, 0.1 + 0.2, 3.6e-7];
      const any = fc.double({ noNaN: true, noDefaultInfinity: true }).map(withoutMinusZero);
      const money = fc.oneof(any, fc.double({ min: 0, max: 1_000, noNaN: true }).map(withoutMinusZero));
      const numbers = [...bounds.map((each) => [each, each]), ...fc.sample(fc.tuple(money, any), 1_000)];
      const rows = numbers.map(([cost, latency]) => spanRow(org, { cost, latency }));
      await insert(rows);
      const read = await exported(store(), org, format, ["unique_id", "cost", "counted_cost", "latency"]);
      const found = new Map(read.map(([id, ...values]) => [id, values.map(Number)]));
      const expected = rows.map(({ unique_id, cost, latency }) => [unique_id, [cost, cost, latency]] as const);
      expect(found).toEqual(new Map(expected));
    });

    it("has each trace of the organization once, with the payload of its root", async () => {
      const org = newOrganization();
      const span = (trace: string, id: string, row: object) =>
        spanRow(org, { trace_unique_id: trace, span_unique_id: id, output: `${trace} ${id}`, ...row });
      await insert([
        ...[1, 2, 3].flatMap((n) => [span(`t${n}`, "root", {}), span(`t${n}`, "leaf", { span_parent_id: "root" })]),
        spanRow(newOrganization(), { trace_unique_id: "t9" }),
      ]);
      const pieces: Uint8Array[] = [];
      const query = { ...everythingOf(org), format, fields: ["id", "span_count", "output"], organizationName: "" };
      const take = async (bytes: Uint8Array) => void pieces.push(Buffer.from(bytes));
      await store().exportTraces(query, take, new AbortController().signal);
      const rows = await readExport(format, Buffer.concat(pieces));
      const shown = rows.map(({ id, span_count: count, output }) => [id, Number(count), output]);
      expect(new Set(shown.map((row) => row.join()))).toEqual(
        new Set(["t1,2,t1 root", "t2,2,t2 root", "t3,2,t3 root"]),
      );
      expect(shown).toHaveLength(3);
    });

    it("has the usage of each customer by period, with its markup", async () => {
      const org = newOrganization();
      const used = (customer_identifier: string, timestamp: string) =>
        spanRow(org, { customer_identifier, timestamp: `${timestamp} 10:00:00.000000000`, cost: 0.1, total_tokens: 3 });
      await insert([
        used("a'b", "2026-05-04"),
        used("a'b", "2026-05-10"),
        used("a'b", "2026-05-11"),
        used("c", "2026-05-31"),
        used("", "2026-05-31"),
      ]);
      const pieces: Uint8Array[] = [];
      const take = async (bytes: Uint8Array) => void pieces.push(Buffer.from(bytes));
      const markups = [{ environment: "prod" as const, customer_identifier: "a'b", markup_percentage: 12.5 }];
      const names = ["customer_identifier", "period_start", "total_tokens", "total_cost", "total_cost_with_markup"];
      const query = { ...everythingOf(org), format, fields: names, period: "week" as const, markups };
      await store().exportUsage(query, take, new AbortController().signal);
      const rows = await readExport(format, Buffer.concat(pieces));
      const shown = rows.map((row) => names.map((name) => String(row[name])).join(" "));
      expect(new Set(shown)).toEqual(
        new Set(["a'b 2026-05-04 6 0.2 0.225", "a'b 2026-05-11 3 0.1 0.1125", "c 2026-05-25 3 0.1 0.1"]),
      );
    });

    it("rejects with the reason of its signal or of its consumer, and leaves the store usable", async () => {
      const org = newOrganization();
      await insert(Array.from({ length: 3_000 }, () => spanRow(org, { output: "x".repeat(2_000) })));
      const query = { ...everythingOf(org), format, fields };
      const leaving = new AbortController();
      const leave = async () => leaving.abort(new Error("left"));
      await expect(store().exportSpans(query, leave, leaving.signal)).rejects.toThrow("left");
      const refuse = async () => {
        throw new ServiceError("unavailable", "no more");
      };
      const { signal } = new AbortController();
      await expect(store().exportSpans(query, refuse, signal)).rejects.toThrow("no more");
      const deleted = AbortSignal.abort(new Error("gone"));
      await expect(store().exportSpans(query, async () => undefined, deleted)).rejects.toThrow("gone");
      expect(await exported(store(), org, format)).toHaveLength(3_000);
    });
  });
}
