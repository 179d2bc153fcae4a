import { expect, test } from "vitest";
import { travelDeskSpans } from "./travel-desk.ts";
import { readConversations } from "./conversation.ts";
import { toSpans, type SpanBody } from "./to-spans.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const mondayMs = Date.parse("2026-01-05T00:10:00Z");
/** Every five hours of a week, so that the results hold whenever the demo runs. */
const nows = Array.from({ length: 34 }, (_, index) => mondayMs + index * 5 * hourMs);
const endOf = (span: SpanBody): number => Date.parse(span.timestamp);

test("whenever it runs, the same spans lie in the preceding 14 days, some of them in the last hour", () => {
  const timeless = ({ start_time: _start, timestamp: _end, ...rest }: SpanBody) => rest;
  const first = travelDeskSpans(mondayMs).map(timeless);
  for (const nowMs of nows) {
    const spans = travelDeskSpans(nowMs);
    expect(spans.map(timeless)).toEqual(first);
    expect(Math.max(...spans.map(endOf))).toBeLessThanOrEqual(nowMs);
    expect(Math.min(...spans.map((span) => Date.parse(span.start_time)))).toBeGreaterThan(nowMs - 14 * dayMs);
    expect(spans.filter((span) => endOf(span) > nowMs - hourMs).length).toBeGreaterThan(20);
  }
});

test("whenever it runs, no two traces end at the same time, so charts have no artificial peak", () => {
  const file = new URL("../../examples/airline-agent/airline-agent.jsonl", import.meta.url);
  const conversations = readConversations(file);
  for (const nowMs of nows) {
    const spans = [...travelDeskSpans(nowMs), ...toSpans(conversations, nowMs)];
    const ends = spans.filter(({ span_parent_id: parent }) => parent === undefined).map(endOf);
    expect(new Set(ends).size).toBe(ends.length);
  }
});

test("whenever it runs, one customer has more than doubled within a week, and no other", () => {
  for (const nowMs of nows) {
    const spans = travelDeskSpans(nowMs);
    const tokens = (customer: unknown, fromMs: number, untilMs: number): number =>
      spans
        .filter((span) => span["customer_identifier"] === customer && endOf(span) >= fromMs && endOf(span) < untilMs)
        .reduce((sum, span) => sum + Number(span["completion_tokens"] ?? 0), 0);
    const grown = [...new Set(spans.map((span) => span["customer_identifier"]))].filter(
      (customer) =>
        tokens(customer, nowMs - 7 * dayMs, nowMs) > 2 * tokens(customer, nowMs - 14 * dayMs, nowMs - 7 * dayMs),
    );
    expect(grown).toEqual(["bluebird-travel"]);
  }
});

test("one evening of the last days has most of the errors, and nights are quiet", () => {
  for (const nowMs of nows) {
    const spans = travelDeskSpans(nowMs);
    const failed = spans.filter((span) => span["status_code"] === 529).map(endOf);
    expect(failed).toHaveLength(42);
    for (const failedMs of failed) {
      const time = new Date(failedMs).toISOString().slice(11);
      expect(time >= "18" && time <= "21:00:00.000Z").toBe(true);
    }
    expect(Math.max(...failed) - Math.min(...failed)).toBeLessThan(3 * hourMs);
    expect(nowMs - Math.max(...failed)).toBeLessThan(2 * dayMs + hourMs);
    // Excludes the last hour, which is never empty.
    const atNight = spans.filter((span) => endOf(span) < nowMs - hourMs && new Date(endOf(span)).getUTCHours() < 5);
    expect(atNight.length).toBeLessThan(spans.length / 20);
  }
});
