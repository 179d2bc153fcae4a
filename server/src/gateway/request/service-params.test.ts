import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { customerLimits } from "../../domain/customer.ts";
import { ServiceError } from "../../domain/errors.ts";
import { expandPermissions } from "../../domain/permissions.ts";
import { isServiceParam, readServiceParams, withCallerContext, type ServiceParams } from "./service-params.ts";

const inBase64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");

function read(body: Record<string, unknown>, headers: Record<string, string>): ServiceParams {
  return readServiceParams(body, { headers, permissions: new Set(["customers:write"]) });
}

function refusalOf(body: Record<string, unknown>, headers: Record<string, string> = {}): ServiceError {
  try {
    read(body, headers);
  } catch (error) {
    if (error instanceof ServiceError) return error;
  }
  throw new Error("nothing was refused");
}

describe("the three places", () => {
  test("have an order: the body's own members, svc_params, its legacy names, the header, its legacy names", () => {
    const places = ["body", "svc", "respan", "keywordsai", "svc header", "respan header", "keywordsai header"];
    for (let first = 0; first < places.length; first += 1) {
      const at = (place: number): Record<string, unknown> =>
        place >= first ? { customer_identifier: places[place], thread_identifier: `t${place}` } : {};
      const params = read(
        { ...at(0), svc_params: at(1), respan_params: at(2), keywordsai_params: at(3) },
        {
          "x-data-svc-params": inBase64(at(4)),
          "x-data-respan-params": inBase64(at(5)),
          "x-data-keywordsai-params": inBase64(at(6)),
        },
      );
      expect(params).toEqual({ customer_identifier: places[first], thread_identifier: `t${first}` });
    }
  });

  test("are merged parameter by parameter, and null counts as absent", () => {
    const params = read(
      { customer_identifier: null, disable_log: false },
      {
        "x-data-respan-params": inBase64({ customer_identifier: "from header", disable_log: true, retries: 2 }),
      },
    );
    expect(params).toEqual({ customer_identifier: "from header", disable_log: false, retries: 2 });
  });

  test("leave the provider's members unchanged", () => {
    expect(read({ model: "gpt-4o", messages: [], temperature: 1 }, {})).toEqual({});
    expect(["model", "messages", "user", "tools", "seed"].filter(isServiceParam)).toEqual([]);
    expect(["metadata", "svc_params", "respan_params", "keywordsai_params", "models"].every(isServiceParam)).toBe(true);
  });

  test("accept the older spelling; the current name wins", () => {
    const models = (model: string) => [{ model, weight: 1 }];
    expect(read({ loadbalance_models: models("a") }, {})).toEqual({ load_balance_models: models("a") });
    const both = { loadbalance_models: models("a"), load_balance_models: models("b") };
    expect(read(both, {})).toEqual({ load_balance_models: models("b") });
  });
});

describe("a bad parameter is refused with its name", () => {
  test.each<[param: string, value: unknown]>([
    ["fallback_models", "gpt-4o"],
    ["fallback_models", [1]],
    ["fallback_models", Array.from({ length: 1000 }, () => "m")],
    ["disable_log", "yes"],
    ["request_breakdown", 1],
    ["customer_identifier", 7],
    ["customer_identifier", "x".repeat(255)],
    ["metadata", "text"],
    ["cache_ttl", -1],
    ["retries", 1.5],
    ["retries", -1],
    ["retry_params", { num_retries: 3 }],
    ["retry_params", { retry_enabled: true, num_retries: 0 }],
    ["retry_params", { retry_enabled: true, retry_after: -1 }],
    ["retry_params", { retry_enabled: true, backoff: 2 }],
    ["load_balance_models", [{ weight: 1 }]],
    ["load_balance_group", { models: [{ model: "m", weight: 0 }] }],
    ["customer_credentials", { openai: "sk-123" }],
    ["customer_credentials", [{ weight: 1 }]],
    ["credential_override", []],
    ["customer_params", []],
    ["svc_params", "text"],
  ])("%s %j", (param, value) => {
    const refusal = refusalOf({ [param]: value });
    expect(refusal.code).toBe("invalid_request");
    expect(Object.keys(refusal.errors ?? {})).toEqual([param]);
  });

  test("also if a stronger place overrides it, and never with its value", () => {
    const refusal = refusalOf({ disable_log: true, svc_params: { disable_log: "secret-value" } });
    expect(Object.keys(refusal.errors ?? {})).toEqual(["svc_params.disable_log"]);
    expect(JSON.stringify([refusal.message, refusal.errors])).not.toContain("secret-value");
  });

  test.each(["not base64!", Buffer.from("[1]").toString("base64"), Buffer.from("{").toString("base64")])(
    "a header that is not a JSON object: %s",
    (text) => {
      expect(Object.keys(refusalOf({}, { "x-data-svc-params": text }).errors ?? {})).toEqual(["x-data-svc-params"]);
    },
  );
});

test("keys of a caller's map are data, whatever their names", () => {
  const override = JSON.parse('{"credential_override":{"__proto__":{"api_key":"k"}}}') as Record<string, unknown>;
  const params = read(override, {});
  expect(Object.keys(params.credential_override ?? {})).toEqual(["__proto__"]);
  expect(({} as Record<string, unknown>)["api_key"]).toBeUndefined();
});

test("a customer that is named twice must have the same name in both places", () => {
  const customer_params = { customer_identifier: "b", total_budget: 5 };
  for (const body of [
    { customer_identifier: "a", customer_params },
    { svc_params: { customer_identifier: "a", customer_params } },
    { svc_params: { customer_identifier: "a" }, customer_params },
  ]) {
    expect(() => read(body, {})).toThrow(/^customer_params\.customer_identifier must be the same/);
  }
  for (const bound of ["total_budget", "period_budget", "rate_limit"])
    expect(() => read({ customer_params: { [bound]: 0 } }, {})).toThrow(/must say whose budget it is/);
  expect(read({ customer_identifier: "b", customer_params }, {})).toMatchObject({ customer_params });
  expect(read({ customer_identifier: "a", customer_params: { total_budget: 5 } }, {})).toMatchObject({
    customer_identifier: "a",
  });
});

test("K2: setting or removing a customer's limits without the permission is refused by name in every place", () => {
  const permissions = expandPermissions(["spans:write", "spans:read", "settings:write"]);
  for (const field of customerLimits) {
    for (const value of [1, null]) {
      const params = { customer_params: { customer_identifier: "c", name: "C", [field]: value } };
      const places = [
        [params, {}],
        [{ svc_params: params }, {}],
        [{ keywordsai_params: params }, {}],
        [{}, { "x-data-svc-params": inBase64(params) }],
        [{}, { "x-data-respan-params": inBase64(params) }],
      ] as const;
      for (const [body, headers] of places) {
        const call = () => readServiceParams(body, { headers, permissions });
        expect(call).toThrow(expect.objectContaining({ code: "forbidden", message: expect.stringContaining(field) }));
        expect(read(body, headers)).toMatchObject(params);
      }
    }
  }
  const named = { customer_params: { customer_identifier: "c", name: "C", email: "c@example.com" } };
  expect(readServiceParams(named, { headers: {}, permissions })).toEqual(named);
});

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
