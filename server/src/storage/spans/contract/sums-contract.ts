import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { countSpans } from "../../../../test/support/count-spans.ts";
import { spanMetrics } from "../span-series.ts";
import type { SumsPass } from "../span-sums.ts";
import type { SpanSelection, SpanStore } from "../span-store.ts";
import {
  keyOf,
  mostFirst,
  newOrganization,
  slowly,
  spanRow,
  type ContractDriver,
  type TestRow,
} from "./span-fixtures.ts";

const timing = { marginMs: 20, openMs: 0 };
// A pass also builds the slots of earlier tests.
const portion = { rows: 40, slotRows: 1_000 };
const startMs = Date.UTC(2026, 2, 10, 23, 30);
const slotMs = 300_000;
const slots = 14;
const hourMs = 12 * slotMs;
const at = (ms: number) => `${new Date(ms).toISOString().slice(0, 23).replace("T", " ")}000000`;
const ns = (ms: number) => BigInt(ms) * 1_000_000n;

/** Updates the sums to what is stored; `between` runs after slots are planned, and after all are built. */
export async function runPass(
  store: SpanStore,
  between: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  await sleep(timing.marginMs + 5);
  const pass = await planned(store);
  await between();
  await build(store, pass);
  await between();
  await store.finishSums(pass.pass);
}

async function planned(store: SpanStore) {
  // Waits for background deletions.
  return await vi.waitFor(async () => {
    const plan = await store.planSums(timing);
    if (plan.kind !== "pass") throw new Error("nothing can be planned yet");
    return plan;
  }, slowly);
}

async function build(store: SpanStore, { pass, days }: Awaited<ReturnType<typeof planned>>): Promise<void> {
  for (const day of days) {
    const portions = await store.listDueSums(pass, day, portion);
    for (const part of portions) await store.buildSums(pass, day.organization_id, part);
  }
}

/** Sends the same queries to sums or spans: with a filter that all spans pass, spans are read. */
async function read(store: SpanStore, selection: SpanSelection) {
  const query = { ...selection, page: 1, pageSize: 50, sort: mostFirst };
  const hours = [startMs, startMs + hourMs / 2, startMs + hourMs * 1.5].map((ms) => ms / 1_000);
  const starts = Array.from({ length: slots / 2 + 1 }, (_, index) => (startMs + 2 * index * slotMs) / 1_000);
  const series = { ...selection, starts, metrics: spanMetrics, top: 2, rankBy: "total_cost" as const, scores: [] };
  const group = (groupBy: string[], search = "") => store.groupSpans({ ...query, groupBy, search });
  const condition = selection.filter && { where: undefined, having: selection.filter, figures: [], matches: [] };
  const byTime = { sort: { field: "timestamp", descending: true }, page: 1, pageSize: 5 } as const;
  const traces = store.listTraces({ ...selection, ...byTime, condition });
  return plainly(
    await Promise.all([
      store.summarizeSpans(selection),
      group(["model"]),
      group(["environment", "model"], "M"),
      store.spanSeries({ ...series, groupBy: [] }),
      store.spanSeries({ ...series, starts: hours, groupBy: ["model"] }),
      store.spanSeries({ ...series, groupBy: ["model"] }),
      traces,
    ]),
  );
}

/** Sums of doubles depend on their order, by less than the last of 12 digits. */
function plainly(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, member: unknown) => {
    if (member instanceof Map) return [...member].toSorted(([a], [b]) => Number(a) - Number(b));
    return typeof member === "number" ? Number(member.toPrecision(12)) : member;
  });
  return JSON.parse(text) as unknown;
}

const everything = { sql: "1", params: {}, columns: new Set<string>() };

export const selections = [
  { from: 0, to: slots * slotMs },
  { from: slotMs * 1.5, to: slotMs * 10.25, environment: "test" },
  { from: -400 * 86_400_000, to: 4_000 * 86_400_000 },
  // Hours, and slots beside them.
  { from: -9 * hourMs, to: slotMs * 11.3 },
  { from: slotMs * 3, to: 9 * hourMs },
] as const;

export async function expectSame(store: SpanStore, org: string, among: readonly (typeof selections)[number][]) {
  for (const { from, to, ...environment } of among) {
    const window = { fromNs: ns(startMs + from), toNs: ns(startMs + to) - 1n };
    const selection = { scope: { organization_id: org, ...environment }, window };
    // A deletion may run between the two reads.
    await vi.waitFor(async () => {
      const spans = await read(store, { ...selection, filter: everything });
      expect(await read(store, selection)).toEqual(spans);
    }, slowly);
  }
}

type Step = { kind: (typeof kinds)[number]; pick: number; offset: number; value: number };
const kinds = [
  "insert",
  "insert",
  "calls",
  "root",
  "resend",
  "move",
  "outrun",
  "delete",
  "reprice",
  "unname",
  "retire",
  "reset",
  "pass",
  "pass",
  "insert during pass",
  "unfinished pass",
  "two passes",
  "restart",
] as const;
const changes = ["insert", "root", "resend", "move", "delete", "reprice", "unname", "retire"] as const;
const firstSteps = [
  "insert during pass",
  "move",
  "two passes",
  "delete",
  "reprice",
  "restart",
  "unname",
  "pass",
] as const;
/** Each change, with the sums passed before and after it. */
export const changesAndPasses = [
  ...changes.flatMap((kind) => [kind, "pass"] as const),
  "unfinished pass",
  "reset",
  "pass",
] as const;
export const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...kinds),
  pick: fc.nat(1_000),
  offset: fc.nat(slots * slotMs - 1),
  value: fc.nat(99),
});

type SentRow = TestRow & Record<string, unknown>;

/** The events of an organization's spans and their sums. */
export class History {
  readonly org = newOrganization();
  readonly rows: SentRow[] = [];
  readonly #driver: Pick<ContractDriver, "open" | "store">;
  readonly #opened: SpanStore[] = [];
  readonly #keys = new Set<string>();
  store: SpanStore;
  #version = 1;

  constructor(driver: Pick<ContractDriver, "open" | "store">) {
    this.#driver = driver;
    this.store = driver.store();
  }

  async close(): Promise<void> {
    for (const store of this.#opened) await store.close();
  }

  #row({ offset, value, pick }: Step, members: object = {}): SentRow {
    const isCall = value % 3 > 0;
    return spanRow(this.org, {
      environment: pick % 4 === 0 ? "test" : "prod",
      timestamp: at(startMs + offset),
      version: String((this.#version += 10)),
      log_type: isCall ? "chat" : "tool",
      model: isCall ? `m${value % 4}` : "",
      status: value % 5 === 0 ? "failed" : "success",
      cost: isCall && value % 7 > 0 ? value / 1_000 : null,
      total_tokens: isCall ? value : null,
      prompt_tokens: isCall ? value : null,
      latency: value % 11 === 0 ? null : value / 7,
      time_to_first_token: isCall ? value / 70 : null,
      cache_hit: value % 2 === 0,
      customer_identifier: value % 4 === 0 ? `user ${value % 3}` : "",
      ...members,
    });
  }

  /** Inserts through the running node: an embedded store relies on being the only writer. */
  async #insert(rows: SentRow[]): Promise<void> {
    const isSecond = (row: SentRow) => row["is_deleted"] === 1 || this.#keys.has(JSON.stringify(keyOf(row)));
    const marked = rows.map((row) => (isSecond(row) ? { is_resend: 1, ...row } : row));
    for (const row of rows) this.#keys.add(JSON.stringify(keyOf(row)));
    const ndjson = Buffer.from(marked.map((row) => `${JSON.stringify(row)}\n`).join(""));
    await this.store.insert({ ndjson, rows: rows.length, token: randomUUID(), hasResends: rows.some(isSecond) });
    await countSpans(this.store, rows);
  }

  async #send(rows: SentRow[]): Promise<void> {
    if (rows.length > 0) await this.#insert(rows);
    this.rows.push(...rows.filter((row) => row["is_deleted"] !== 1));
  }

  async begin(): Promise<void> {
    const some = Array.from({ length: 30 }, (_, index) => ({ index, value: (index * 7) % 100 }));
    const rows = some.map(({ index, value }) =>
      this.#row({ kind: "insert", pick: index, offset: index * 135_000, value }),
    );
    await this.#send(rows);
    await this.do({ kind: "calls", pick: 1, offset: 3 * slotMs, value: 50 });
  }

  async do(step: Step): Promise<void> {
    const row = this.rows[step.pick % Math.max(1, this.rows.length)];
    const { store, org } = this;
    if (step.kind === "insert")
      return await this.#send([this.#row(step), this.#row({ ...step, value: 99 - step.value })]);
    if (step.kind === "calls") return await this.#send(this.#calls(step));
    if (step.kind === "root") return await this.#send(this.#root(step));
    if (step.kind === "pass") return await runPass(store);
    if (step.kind === "two passes") {
      await Promise.all([runPass(store), runPass(this.#driver.store())]);
      return;
    }
    if (step.kind === "insert during pass") return await runPass(store, () => this.#send([this.#row(step)]));
    if (step.kind === "unfinished pass") return await build(store, await planned(store));
    if (step.kind === "reset") return await store.resetSums();
    if (step.kind === "restart") {
      this.store = this.#driver.open();
      this.#opened.push(this.store);
      return;
    }
    if (row === undefined) return;
    const again = { ...row, version: String((this.#version += 10)) };
    if (step.kind === "resend") await this.#send([{ ...again, model: "m9", cost: step.value, latency: step.value }]);
    if (step.kind === "outrun") await this.#insert([{ ...row, version: "1", model: "m8", cost: 77 }]);
    if (step.kind === "move") {
      const moved = { ...again, timestamp: at(startMs + step.offset) };
      await this.#send([{ ...again, is_deleted: 1 }, moved]);
    }
    if (step.kind === "delete" && row["trace_unique_id"] !== undefined) {
      const window = { fromNs: ns(startMs), toNs: ns(startMs + slots * slotMs) };
      const { trace_unique_id, environment } = row;
      await store.deleteTraces([{ organization_id: org, trace_unique_id, environment, ...window } as never]);
    }
    if (step.kind === "unname")
      await store.unnameCustomer({
        organization_id: org,
        environment: "prod",
        customer_identifier: `user ${step.value % 3}`,
      });
    if (step.kind === "retire") await store.deleteExpired(new Map([[org, ns(startMs + (step.offset >> 3))]]));
    if (step.kind === "reprice") await this.#reprice(step, row);
  }

  /** Calls without their root yet. */
  #calls(step: Step): SentRow[] {
    const of = { trace_unique_id: randomUUID(), environment: "prod", span_parent_id: "root", customer_identifier: "" };
    return ["1", "2"].map((span_unique_id, index) => {
      const offset = (step.offset + (index + 1) * step.value * 9_000) % (slots * slotMs);
      return this.#row({ ...step, offset, value: 1 }, { ...of, span_unique_id });
    });
  }

  /** A root that restates the usage of its calls and names their customer: their counts change. */
  #root(step: Step): SentRow[] {
    const calls = this.rows.filter((row) => row["span_parent_id"] === "root");
    const call = calls[step.pick % Math.max(1, calls.length)];
    if (call === undefined) return [];
    const { trace_unique_id, environment } = call;
    const stated = { customer_identifier: `late ${step.value}`, total_tokens: 9, cost: 0.9 };
    return [this.#row(step, { trace_unique_id, environment, span_unique_id: "root", ...stated })];
  }

  async #reprice({ value }: Step, { environment }: SentRow): Promise<void> {
    const window = { fromNs: ns(startMs), toNs: ns(startMs + slots * slotMs) };
    const { rows } = await this.store.listSpans({
      scope: { organization_id: this.org },
      window,
      page: 1,
      pageSize: 50,
      sort: { field: "timestamp", descending: true },
      fields: [],
    });
    const price = { cost: value / 10, price_version: "own", cost_details: '{"lines":[]}', unpriced: "" };
    const changes = rows.filter((row) => row.environment === environment).map((row) => ({ ...row, ...price }));
    await this.store.repriceSpans({ organization_id: this.org, environment: environment as "prod" }, changes);
    await countSpans(this.store, this.rows);
  }
}

/** After each step, what is read from sums must match the spans. */
export async function expectSameAfter(
  driver: Pick<ContractDriver, "open" | "store">,
  kinds: readonly Step["kind"][],
  atEnd: readonly (typeof selections)[number][],
): Promise<void> {
  const history = new History(driver);
  await history.begin();
  await runPass(history.store);
  for (const kind of kinds) {
    await history.do({ kind, pick: 31, offset: 12.5 * slotMs, value: 6 });
    await expectSame(history.store, history.org, [selections[0]]);
  }
  await expectSame(history.store, history.org, atEnd);
  await history.close();
}

export function describeSums(driver: ContractDriver): void {
  describe("sums", () => {
    it("are correct after each step of a history", () =>
      expectSameAfter(driver, firstSteps, driver.variations(selections)));

    it("are built by one node at a time, as long as it renews its turn", async () => {
      const store = driver.store();
      await vi.waitFor(async () => expect(await store.acquireSumsLease("one", 2_000)).toBe(true), slowly);
      expect([await store.acquireSumsLease("two", 10), await store.acquireSumsLease("one", 100)]).toEqual([
        false,
        true,
      ]);
      await vi.waitFor(async () => expect(await store.acquireSumsLease("two", 10)).toBe(true), slowly);
    });

    driver.once("are correct beside times before 1970 and after 2106, of any organization", async () => {
      const [org, other] = [newOrganization(), newOrganization()];
      const times = [
        "1900-01-01",
        "1969-12-31T23:59:59Z",
        "1970-01-01",
        "1970-01-01T00:07:00Z",
        "2015-05-05",
        "2018-01-01",
        "2200-01-01",
      ];
      const rowsOf = (name: string) => times.map((time) => spanRow(name, { timestamp: at(Date.parse(time)), cost: 1 }));
      await driver.insert([...rowsOf(org), ...rowsOf(other)]);
      const store = driver.store();
      const windows = [
        ["1970-01-01", "2100-01-01"],
        ["1985-01-01", "2026-01-01"],
        ["1960-01-01", "1972-01-01"],
        ["2015-01-01", "2016-01-01"],
        ["2015-01-01", "2250-01-01"],
      ] as const;
      for (const pass of [false, true]) {
        if (pass) await runPass(store);
        for (const [from, to] of windows) {
          const window = { fromNs: ns(Date.parse(from)), toNs: ns(Date.parse(to)) - 1n };
          const selection = { scope: { organization_id: org }, window };
          const expected = times
            .map((time) => Date.parse(time))
            .filter((ms) => ms >= Date.parse(from) && ms < Date.parse(to));
          const { number_of_requests } = await store.summarizeSpans(selection);
          expect([from, to, number_of_requests]).toEqual([from, to, expected.length]);
        }
      }
    });

    it("use spans for slots with very many spans, and slots for hours with as many", async () => {
      const org = newOrganization();
      const rows = (count: number, ms: number) =>
        Array.from({ length: count }, () => spanRow(org, { timestamp: at(ms), cost: 1 }));
      const early = startMs - 12 * hourMs;
      const late = startMs + 8 * slotMs;
      await driver.insert([...rows(9, startMs), ...rows(5, early), ...rows(5, early + slotMs), ...rows(1, late)]);
      const store = driver.store();
      await sleep(timing.marginMs + 5);
      const { pass, days } = await planned(store);
      const found = await Promise.all(days.map((day) => store.listDueSums(pass, day, { rows: 4, slotRows: 8 })));
      const own = days.flatMap((day, index) => (day.organization_id === org ? (found[index] ?? []) : []));
      const due = [early, early + slotMs, late].map((ms) => ({ seconds: 300, slots: [ms / 1_000] }));
      expect(own).toEqual([...due, { seconds: 3_600, slots: [(startMs + hourMs / 2) / 1_000] }]);
      for (const [index, day] of days.entries())
        for (const part of found[index] ?? []) await store.buildSums(pass, day.organization_id, part);
      await store.finishSums(pass);
      await expectSame(store, org, driver.variations(selections));
    });

    it("start again when the clock of the store went back", async () => {
      const store = driver.store();
      await runPass(store);
      const { watermarkMs, nowMs } = await store.readSumsState();
      expect(watermarkMs).toBeLessThan(nowMs);
      const ahead: SumsPass = { ...(await planned(store)).pass, untilMs: nowMs + 3_600_000 };
      await store.finishSums(ahead);
      const org = newOrganization();
      await driver.insert([spanRow(org, { timestamp: at(startMs), cost: 1 })]);
      await expectSame(store, org, driver.variations(selections));
      expect(await store.planSums(timing)).toEqual({ kind: "wait" });
      expect(await store.readSumsState()).toMatchObject({ watermarkMs: 0 });
      await runPass(store);
      await expectSame(store, org, driver.variations(selections));
      await store.resetSums();
      expect(await store.readSumsState()).toMatchObject({ watermarkMs: 0 });
      await expectSame(store, org, driver.variations(selections));
    });
  });
}
