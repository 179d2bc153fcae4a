import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withCallerContext } from "./caller-context.ts";

const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const parent = "00f067aa0ba902b7";
const valid = `00-${trace}-${parent}-01`;

describe("M5: traceparent makes the call a child of the caller's span", () => {
  test.each([
    valid,
    `00-${trace}-${parent}-00`,
    ` ${valid} `,
    `01-${trace}-${parent}-01`,
    `cc-${trace}-${parent}-01-what-comes-later`,
  ])("%s", (traceparent) => {
    const { span_unique_id, ...place } = withCallerContext({}, {}, { traceparent });
    expect(place).toEqual({ trace_unique_id: trace, span_parent_id: parent });
    expect(span_unique_id).toMatch(/^[0-9a-f]{16}$/);
  });

  test.each([
    "",
    "nonsense",
    `ff-${trace}-${parent}-01`,
    `00-${"0".repeat(32)}-${parent}-01`,
    `00-${trace}-${"0".repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${trace}-${parent}-01-more`,
    `00-${trace}-${parent}`,
    `00-${trace}-${parent}-1`,
  ])("but not %j", (traceparent) => {
    expect(withCallerContext({}, {}, { traceparent })).toEqual({});
  });

  test.each([{ trace_unique_id: "own" }, { span_parent_id: "own" }])(
    "nor if the caller sets the span's place: %j",
    (params) => {
      expect(withCallerContext(params, {}, { traceparent: valid })).toEqual(params);
    },
  );
});

describe("M5: baggage names customer, thread and session", () => {
  test.each([
    ["customer_identifier=acme", { customer_identifier: "acme" }],
    ["svc.customer_identifier=a,respan.thread_identifier=b", { customer_identifier: "a", thread_identifier: "b" }],
    ["keywordsai.customer_params.customer_identifier=a", { customer_identifier: "a" }],
    [
      "other=1, customer.id = caf%C3%A9%20%F0%9F%98%80 ;ttl=3,session.id=s",
      { customer_identifier: "café 😀", session_identifier: "s" },
    ],
    ["gen_ai.conversation.id=t", { thread_identifier: "t" }],
    ["customer_identifier=first,customer_identifier=second", { customer_identifier: "first" }],
    ["customer_identifier=%,thread_identifier=", {}],
    [`customer_identifier=${"x".repeat(300)}`, {}],
    ["customer_identifier", {}],
  ])("%s", (baggage, named) => {
    expect(withCallerContext({}, {}, { baggage })).toEqual(named);
  });
});

describe("M13: user names the customer if nothing else does", () => {
  test.each([
    [{}, {}, "u"],
    [{ customer_identifier: "p" }, {}, "p"],
    [{ customer_params: { customer_identifier: "p" } }, {}, undefined],
    [{ customer_params: { email: "a@b.c" } }, {}, "u"],
    [{}, { baggage: "customer_identifier=b" }, "b"],
  ])("%j and %j", (params, headers, customer) => {
    expect(withCallerContext(params, { user: "u" }, headers).customer_identifier).toBe(customer);
  });

  test.each([7, null, "", "x".repeat(300)])("user %j names no customer", (user) => {
    expect(withCallerContext({}, { user }, {})).toEqual({});
  });
});

test("no header ever fails a call", () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ unit: "binary" }), (traceparent, baggage) => {
      const { customer_identifier = "" } = withCallerContext({}, {}, { traceparent, baggage });
      expect(customer_identifier.isWellFormed()).toBe(true);
    }),
  );
});
