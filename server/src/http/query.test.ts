import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ServiceError } from "../domain/errors.ts";
import { paginate } from "./pagination.ts";
import {
  environmentQuery,
  includeFieldsQuery,
  pagingQuery,
  sortQuery,
  timeWindow,
  timeWindowQuery,
  wholeNumber,
} from "./query.ts";
import { validateQuery } from "./validate.ts";

const schema = z.object({
  ...pagingQuery(),
  ...sortQuery("-timestamp"),
  ...timeWindowQuery(),
  ...environmentQuery(),
  ...includeFieldsQuery(),
});
const parse = (query: string) => {
  const params = new URLSearchParams(query);
  const record = Object.fromEntries([...params.keys()].map((k) => [k, params.getAll(k)]));
  const single = Object.fromEntries(Object.entries(record).map(([k, v]) => [k, v.length === 1 ? v[0] : v]));
  return validateQuery(schema, single) as z.output<typeof schema>;
};
const problem = (query: string): ServiceError => {
  try {
    parse(query);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error(`${query} was accepted`);
};

describe("query parameters", () => {
  test.each(["", "page=&page_size=&sort_by=&start_time=&end_time=&environment=&include_fields="])(
    "%j gives the defaults",
    (query) => {
      expect(parse(query)).toEqual({
        page: 1,
        page_size: 50,
        sort_by: "-timestamp",
        start_time: undefined,
        end_time: undefined,
        environment: undefined,
        include_fields: undefined,
      });
    },
  );

  test("parses all given parameters", () => {
    expect(
      parse(
        "page=3&page_size=1000&sort_by=cost&start_time=2026-01-01T00:00:00.000000001Z&end_time=1767323045" +
          "&environment=all&include_fields=id,%20cost,,",
      ),
    ).toEqual({
      page: 3,
      page_size: 1000,
      sort_by: "cost",
      start_time: BigInt(Date.UTC(2026, 0, 1)) * 1_000_000n + 1n,
      end_time: 1_767_323_045_000_000_000n,
      environment: "all",
      include_fields: ["id", "cost"],
    });
  });

  test.each([
    ["page=0", "page"],
    ["page=-1", "page"],
    ["page=1.5", "page"],
    ["page=1e1", "page"],
    ["page=abc", "page"],
    ["page=1&page=2", "page"],
    ["page=1000001", "page"],
    ["page=99999999999999999999", "page"],
    ["page_size=0", "page_size"],
    ["page_size=1001", "page_size"],
    ["page_size=%201", "page_size"],
    ["start_time=yesterday", "start_time"],
    ["end_time=2026-02-30", "end_time"],
    ["environment=production", "environment"],
    ["environment=prod&environment=test", "environment"],
  ])("%s is refused, naming the parameter", (query, name) => {
    const error = problem(query);
    expect(error.code).toBe("invalid_request");
    expect(error.message).toContain(name);
    expect(Object.keys(error.errors ?? {})).toEqual([name]);
  });

  test("a whole number within its range is read, any other text is refused", () => {
    const number = z.object({ n: wholeNumber("n", { min: 1, max: 1000, default: 7 }) });
    fc.assert(
      fc.property(fc.oneof(fc.integer({ min: -10, max: 2000 }).map(String), fc.string({ minLength: 1 })), (text) => {
        const expected = /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 1000;
        expect(number.safeParse({ n: text }).data?.n).toBe(expected ? Number(text) : undefined);
      }),
    );
  });
});

describe("timeWindow", () => {
  const nowMs = Date.UTC(2026, 0, 2, 12);
  const nowNs = BigInt(nowMs) * 1_000_000n;
  const hourNs = 3_600_000_000_000n;

  test.each([
    [undefined, undefined, nowNs - hourNs, nowNs],
    [undefined, 5n * hourNs, 4n * hourNs, 5n * hourNs],
    [nowNs - 9n, undefined, nowNs - 9n, nowNs],
    [7n, 7n, 7n, 7n],
  ])("from %s to %s", (start_time, end_time, startNs, endNs) => {
    expect(timeWindow({ start_time, end_time }, nowMs)).toEqual({ startNs, endNs });
  });

  test.each([
    [8n, 7n],
    [nowNs + 1n, undefined],
  ])("a start of %s after an end of %s is refused", (start_time, end_time) => {
    expect(() => timeWindow({ start_time, end_time }, nowMs)).toThrow(/start_time must not be after end_time/);
  });
});

describe("paginate", () => {
  const url = new URL("https://api.example.com/api/x/list/?page_size=10&page=2&metadata__a=b%26c");
  const at = (page: number, count: number) => paginate({ url, page, pageSize: 10, count, results: [] });
  const pageIn = (link: string | null) => (link === null ? null : Number(new URL(link).searchParams.get("page")));

  test("links are absolute and keep the other parameters", () => {
    const { next } = at(2, 100);
    expect(next).toBe("https://api.example.com/api/x/list/?page_size=10&page=3&metadata__a=b%26c");
  });

  test.each([
    [1, 0, null, null],
    [1, 10, null, null],
    [1, 11, null, 2],
    [2, 11, 1, null],
    [3, 31, 2, 4],
    [9, 11, 2, null],
    [2, 0, 1, null],
  ])("page %i of %i rows lies between %s and %s", (page, count, previous, next) => {
    const links = at(page, count);
    expect([pageIn(links.previous), pageIn(links.next)]).toEqual([previous, next]);
    expect(links.count).toBe(count);
  });

  test("following next visits each page once and ends", () => {
    fc.assert(
      fc.property(fc.nat(500), fc.integer({ min: 1, max: 50 }), (count, pageSize) => {
        const visited: number[] = [];
        let page: number | null = 1;
        while (page !== null) {
          visited.push(page);
          page = pageIn(paginate({ url, page, pageSize, count, results: [] }).next);
        }
        expect(visited).toEqual(Array.from({ length: Math.max(1, Math.ceil(count / pageSize)) }, (_, i) => i + 1));
      }),
    );
  });
});
