import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  changePercentage,
  countStates,
  nextStatuses,
  retireStatuses,
  type AlertBounds,
  type AlertChange,
  type Measured,
} from "./alert-state.ts";
import { durationMs, type AlertDefinition, type AlertGroupStatus } from "./alert.ts";

const minuteMs = 60_000;
const startMs = Date.UTC(2026, 2, 1, 10);
const at = (minute: number): string => new Date(startMs + minute * minuteMs).toISOString();

const rule = (fields: Partial<AlertDefinition> = {}): AlertDefinition => ({
  filters: {},
  metric: "number_of_requests",
  window: "5m",
  operator: "gt",
  threshold: 10,
  change_percentage: null,
  group_by: ["customer_identifier"],
  min_requests: 0,
  cooldown: "5m",
  ...fields,
});

const bounds: AlertBounds = { groups: 20, events: 5, memoryMs: 60 * minuteMs };

type Value = number | null;

/** The values of groups in one window; groups without a value are absent. */
function measured(minute: number, values: Record<string, Value>, isComplete = true): Measured {
  const measurements = Object.entries(values).map(([customer_identifier, value]) => ({
    group: { customer_identifier },
    value,
    number_of_requests: 1,
    previous_value: 1,
    previous_number_of_requests: 1,
  }));
  return { measurements, isComplete, emptyValue: null, windowEnd: at(minute) };
}

type Step = { statuses: AlertGroupStatus[]; changes: AlertChange[] };

/** One step per minute. */
function run(definition: AlertDefinition, windows: Array<Record<string, Value>>, of = bounds): Step[] {
  let statuses: AlertGroupStatus[] = [];
  return windows.map((values, minute) => {
    const step = nextStatuses(definition, statuses, measured(minute, values), of);
    ({ statuses } = step);
    return step;
  });
}

const eventsOf = (steps: readonly Step[]): Array<[minute: number, event: string, group: unknown]> =>
  steps.flatMap(({ changes }, minute) =>
    changes.flatMap(({ event, status }): Array<[number, string, unknown]> =>
      event === null ? [] : [[minute, event, status.group["customer_identifier"]]],
    ),
  );

test.each([
  [1, 1, 0],
  [0, 0, 0],
  [0, 5, Number.POSITIVE_INFINITY],
  [0, -5, Number.NEGATIVE_INFINITY],
  [10, 15, 50],
  [10, 0, -100],
  [-10, -5, 50],
])("from %d to %d is a change of %d percent", (previous, value, percentage) => {
  expect(changePercentage(previous, value)).toBe(percentage);
});

describe("random windows", () => {
  const value = fc.option(fc.integer({ min: 0, max: 20 }), { nil: null });
  const windows = fc.array(
    fc.dictionary(fc.constantFrom("a", "b", "c", "d", "e", "f", "g"), value, { noNullPrototype: true }),
    { maxLength: 120 },
  );
  const definition = fc
    .record({
      operator: fc.constantFrom("gt", "gte", "lt", "lte"),
      threshold: fc.integer({ min: 0, max: 20 }),
      cooldown: fc.constantFrom("0m", "1m", "5m", "30m"),
      min_requests: fc.constantFrom(0, 1, 2),
    })
    .map((fields) => rule(fields));

  test("report each group alternately, triggered first, and at most once per cooldown", () => {
    fc.assert(
      fc.property(definition, windows, (of, all) => {
        const last = new Map<unknown, { minute: number; event: string; notifiedAt: number }>();
        for (const [minute, event, group] of eventsOf(run(of, all))) {
          const before = last.get(group);
          expect(event).not.toBe(before?.event ?? "alert_resolved");
          const isTriggered = event === "alert_triggered";
          const cooledMs = before === undefined ? Number.POSITIVE_INFINITY : (minute - before.notifiedAt) * minuteMs;
          expect(!isTriggered || cooledMs >= (durationMs(of.cooldown) ?? 0)).toBe(true);
          last.set(group, { minute, event, notifiedAt: isTriggered ? minute : (before?.notifiedAt ?? 0) });
        }
      }),
    );
  });

  test("give each group the state of its value, and report each change once", () => {
    fc.assert(
      fc.property(definition, windows, (of, all) => {
        let before = new Map<unknown, string>();
        for (const [minute, { statuses, changes }] of run(of, all).entries()) {
          for (const { group, state, value } of statuses) {
            const sent = all[minute]?.[String(group["customer_identifier"])] ?? null;
            expect(value).toBe(sent);
            const holds = { gt: (v: number) => v > of.threshold!, gte: (v: number) => v >= of.threshold! };
            const isHigh = of.operator === "gt" || of.operator === "lte" ? holds.gt : holds.gte;
            const isUpward = of.operator === "gt" || of.operator === "gte";
            const known = sent !== null && of.min_requests <= 1;
            const expected = known ? (isHigh(sent) === isUpward ? "triggered" : "ok") : "no_data";
            expect(state).toBe(expected);
          }
          const changed = changes.filter(({ previous, status }) => previous !== status.state);
          const seen = statuses.filter(
            ({ group, state }) => (before.get(group["customer_identifier"]) ?? "ok") !== state,
          );
          expect(changed.length).toBe(seen.length);
          before = new Map(statuses.map(({ group, state }) => [group["customer_identifier"], state]));
          expect(Object.values(countStates(statuses)).reduce((sum, count) => sum + count, 0)).toBe(statuses.length);
        }
      }),
    );
  });

  test("report a bounded number of groups at a time, and all of them in the end", () => {
    const few = { ...bounds, events: 2 };
    fc.assert(
      fc.property(definition, windows, (of, all) => {
        const lasting = Array.from({ length: 40 }, () => all.at(-1) ?? {});
        const steps = run({ ...of, cooldown: "0m" }, [...all, ...lasting], few);
        for (const { changes } of steps) {
          expect(changes.filter(({ event }) => event !== null).length).toBeLessThanOrEqual(few.events);
        }
        for (const { state, is_notified } of steps.at(-1)?.statuses ?? [])
          expect(is_notified).toBe(state === "triggered");
      }),
    );
  });
});

test("a new group starts as ok: it is reported immediately if it triggers, otherwise not", () => {
  const steps = run(rule(), [{ a: 20, b: 5 }]);
  expect(steps[0]?.changes).toMatchObject([
    { previous: "ok", status: { state: "triggered" }, event: "alert_triggered" },
  ]);
});

test("an event delayed by the cooldown is sent when it ends, if it still applies", () => {
  const flapping = [{ a: 20 }, { a: 1 }, ...Array.from({ length: 8 }, () => ({ a: 20 }))];
  expect(eventsOf(run(rule(), flapping))).toEqual([
    [0, "alert_triggered", "a"],
    [1, "alert_resolved", "a"],
    [5, "alert_triggered", "a"],
  ]);
});

test("a group that vanishes becomes no_data, is resolved, and is forgotten after a while", () => {
  const memory = bounds.memoryMs / minuteMs;
  const steps = run(rule(), [{ a: 20 }, ...Array.from({ length: memory + 1 }, () => ({}))]);
  expect(eventsOf(steps)).toEqual([
    [0, "alert_triggered", "a"],
    [1, "alert_resolved", "a"],
  ]);
  expect(steps[memory]?.statuses).toMatchObject([{ state: "no_data" }]);
  expect(steps[memory + 1]?.statuses).toEqual([]);
});

test("groups left out because of the bound keep their state", () => {
  const [first] = run(rule(), [{ a: 20, b: 1 }]);
  const { statuses, changes } = nextStatuses(rule(), first!.statuses, measured(1, { c: 1 }, false), bounds);
  expect(changes).toEqual([]);
  expect(statuses).toEqual([expect.objectContaining({ group: { customer_identifier: "c" } }), ...first!.statuses]);
});

test("groups of a changed definition end, and those reported as triggered are resolved", () => {
  const [first] = run(rule(), [{ a: 20, b: 1 }]);
  const { statuses, changes } = retireStatuses(first!.statuses, at(1));
  expect(statuses).toEqual([]);
  expect(changes).toMatchObject([{ event: "alert_resolved", previous: "triggered", status: { state: "no_data" } }]);
});

test.each([
  ["5m", 300_000],
  ["0m", 0],
  ["36h", 36 * 3_600_000],
  ["30d", 30 * 86_400_000],
  ["5", undefined],
  ["-5m", undefined],
  ["5 m", undefined],
  ["1w", undefined],
  ["1e3m", undefined],
  ["", undefined],
])("the duration %j is %s", (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});
