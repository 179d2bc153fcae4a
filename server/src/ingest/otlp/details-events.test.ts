import { describe, expect, test } from "vitest";
import { callOf, withDetails, type Call } from "./details-events.ts";
import type { AttributeValue, OtlpEvent } from "./export-request.ts";

const details = (attributes: Record<string, AttributeValue>, timeNs = 50n): OtlpEvent => ({
  name: "gen_ai.client.inference.operation.details",
  timeNs,
  attributes: new Map(Object.entries(attributes)),
});
const second = 1_000_000_000n;
const call = (id: string, given: Partial<Call> = {}) => ({
  id,
  model: "gpt-4o-mini",
  parent: "around",
  startNs: 0n,
  endNs: 100n,
  isAnswered: false,
  ...given,
});

describe("S11: the call that a record belongs to", () => {
  const calls = [
    call("a"),
    call("b", { startNs: 40n, model: "gpt-4o" }),
    call("c", { parent: "elsewhere", startNs: 45n }),
  ];
  test.each<[name: string, event: OtlpEvent, id: string | undefined]>([
    ["by its model", details({ "gen_ai.request.model": "gpt-4o" }), "b"],
    ["by the model that responded", details({ "gen_ai.request.model": "x", "gen_ai.response.model": "gpt-4o" }), "b"],
    ["below the span that it names, the latest", details({}), "b"],
    ["below the span that it names before others", details({ "gen_ai.request.model": "gpt-4o-mini" }), "a"],
    ["by time", details({}, 10n), "a"],
    ["recorded just after the call", details({ "gen_ai.request.model": "gpt-4o" }, 100n + second), "b"],
    ["not long after it", details({}, 101n + second), undefined],
    ["not before it", details({ "gen_ai.request.model": "gpt-4o" }, 39n), undefined],
    ["not of another model", details({ "gen_ai.request.model": "claude" }), undefined],
  ])("%s", (_name, event, id) => {
    expect(callOf(event, "around", calls)?.id).toBe(id);
  });

  test("a call that has its response does not match", () => {
    expect(callOf(details({}), "around", [call("a", { isAnswered: true })])).toBeUndefined();
  });
});

test("the span's own attributes win; details fill the gaps, and the longer list of tools wins", () => {
  const own = new Map<string, AttributeValue>([
    ["gen_ai.request.model", "own"],
    ["gen_ai.tool.definitions", '[{"name":"f","parameters":null}]'],
  ]);
  const tools = '[{"name":"f","parameters":{"type":"object"}}]';
  const given = {
    "gen_ai.request.model": "other",
    "user.id": "u1",
    "gen_ai.tool.definitions": tools,
    "gen_ai.input.messages": "[]",
  };
  expect(Object.fromEntries(withDetails(own, [details(given)]))).toEqual({
    "gen_ai.request.model": "own",
    "user.id": "u1",
    "gen_ai.tool.definitions": tools,
  });
  expect(withDetails(own, [{ ...details(given), name: "gen_ai.user.message" }])).toBe(own);
});
