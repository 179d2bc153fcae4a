import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { always, createSpan, listSpans, settle, storeSpans } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";
import type { ListAnswer, Row, TestClient } from "../support/test-client.ts";

let app: TestApp;
let prod: TestClient;
const moment = "2026-01-01T00:00:00Z";
const total = 53;
beforeAll(async () => {
  app = await startTestApp();
  ({ prod } = await app.newOrganization());
  await storeSpans(
    prod,
    Array.from({ length: total }, (_, i) => ({
      log_type: "chat",
      custom_identifier: `${i}`,
      timestamp: moment,
      cost: i % 3,
    })),
  );
});
afterAll(() => app.stop());

const chat = { log_type: "chat" };
const namesOf = (rows: readonly Row[]): string[] => rows.map((row) => String(row["custom_identifier"]));

/** Follows `next` from the first page to the last. */
async function walk(
  client: TestClient,
  query: string,
  filters: unknown,
  between: (page: number) => Promise<void> = async () => undefined,
): Promise<string[]> {
  const seen: string[] = [];
  let path: string | null = `/api/request-logs/list/?${always}&${query}`;
  for (let page = 1; path !== null; page += 1) {
    const answer = await client.post(path, { filters });
    const list = answer.json as ListAnswer;
    seen.push(...namesOf(list.results));
    path = list.next;
    await between(page);
  }
  return seen;
}

describe("53 spans of one instant", () => {
  test.each(["timestamp", "-timestamp", "cost", "-cost", "id", "-model", "latency", "status_code"])(
    "by %s the pages together contain each once, in one order",
    async (sort) => {
      for (const size of [1, 10, 53]) {
        if (size === 1 && sort !== "-timestamp") continue;
        const seen = await walk(prod, `sort_by=${sort}&page_size=${size}`, chat);
        expect([seen.length, new Set(seen).size]).toEqual([total, total]);
      }
      const pages = await walk(prod, `sort_by=${sort}&page_size=10`, chat);
      expect(pages).toEqual(await walk(prod, `sort_by=${sort}&page_size=7`, chat));
    },
  );

  test("without a filter too, which uses another query", async () => {
    const own = await app.newOrganization();
    await storeSpans(
      own.prod,
      Array.from({ length: total }, (_, i) => ({ custom_identifier: `${i}`, timestamp: moment })),
    );
    const window = "start_time=2025-12-31&end_time=2026-01-02";
    const seen: string[] = [];
    for (let page = 1; page <= 6; page += 1) {
      const answer = await own.prod.post(`/api/request-logs/list/?${window}&page_size=10&page=${page}`, {});
      expect(answer.json).toMatchObject({ count: total });
      seen.push(...namesOf((answer.json as ListAnswer).results));
    }
    expect([seen.length, new Set(seen).size]).toEqual([total, total]);
  });

  test("links lead forwards and back over the same pages; a page past the end is empty", async () => {
    const first = await listSpans(prod, chat, "page_size=10");
    expect(first).toMatchObject({ count: total, previous: null });
    const second = (await prod.post(String(first.next), { filters: chat })).json as ListAnswer;
    const back = (await prod.post(String(second.previous), { filters: chat })).json as ListAnswer;
    expect(namesOf(back.results)).toEqual(namesOf(first.results));
    for (const page of [7, 1000, 1_000_000]) {
      expect(await listSpans(prod, chat, `page_size=10&page=${page}`)).toMatchObject({
        count: total,
        results: [],
        next: null,
      });
    }
  });

  test.each(["0", "-1", "1.5", "x", "", "1e3", "99999999999999999999", "1000001", "NaN"])(
    "a page of %j is refused or accepted as a number",
    async (page) => {
      const answer = await prod.post(`/api/request-logs/list/?page=${page}`, {});
      expect([page, [200, 400].includes(answer.status)]).toEqual([page, true]);
      const sized = await prod.post(`/api/request-logs/list/?page_size=${page}`, {});
      expect([200, 400]).toContain(sized.status);
    },
  );
});

describe("while spans arrive between pages", () => {
  const fill = async (): Promise<TestClient> => {
    const own = await app.newOrganization();
    const logs = Array.from({ length: total }, (_, i) => ({ ...chat, custom_identifier: `${i}`, timestamp: moment }));
    await storeSpans(own.prod, logs);
    return own.prod;
  };
  const original = Array.from({ length: total }, (_, i) => `${i}`).sort();

  test("later ones do not change a walk from the oldest", async () => {
    const client = await fill();
    const seen = await walk(client, "sort_by=timestamp&page_size=10", chat, async (page) => {
      if (page > 5) return;
      await createSpan(client, { ...chat, custom_identifier: `later ${page}`, timestamp: "2026-01-02" });
      await settle(client);
    });
    expect(seen.filter((name) => !name.startsWith("later")).sort()).toEqual(original);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test.each(["-timestamp", "timestamp", "-cost", "id"])(
    "by %s, newer ones, ones of the same instant and deletions do not change a walk along the links",
    async (sort) => {
      const own = await app.newOrganization();
      const span = (i: number, more: Row = {}): Row => ({
        ...chat,
        custom_identifier: `${i}`,
        timestamp: moment,
        cost: i % 3,
        trace_unique_id: `trace ${i}`,
        ...more,
      });
      await storeSpans(
        own.prod,
        Array.from({ length: total }, (_, i) => span(i)),
      );
      const removed = new Set<string>();
      const seen: string[] = [];
      let path: string | null = `/api/request-logs/list/?${always}&sort_by=${sort}&page_size=10`;
      for (let page = 1; path !== null; page += 1) {
        const list = (await own.prod.post(path, { filters: chat })).json as ListAnswer;
        seen.push(...namesOf(list.results));
        path = list.next;
        if (page > 4) continue;
        // One span that was read is deleted, and others are added before and among them.
        const victim = seen.find((name) => /^\d+$/.test(name) && !removed.has(name)) ?? "";
        removed.add(victim);
        const deleted = await own.prod.request(
          "DELETE",
          `/api/traces/${encodeURIComponent(`trace ${victim}`)}/?${always}`,
        );
        expect(deleted.json).toMatchObject({ deleted_count: 1 });
        await storeSpans(own.prod, [
          span(page, { custom_identifier: `same ${page}`, trace_unique_id: "new" }),
          span(page, { custom_identifier: `later ${page}`, trace_unique_id: "new", timestamp: "2026-01-02" }),
        ]);
      }
      expect(seen.filter((name) => /^\d+$/.test(name)).sort()).toEqual(original);
      expect(new Set(seen).size).toBe(seen.length);
    },
  );

  test("the links keep the window of the first page, which by default depends on the time", async () => {
    const own = await app.newOrganization();
    await storeSpans(
      own.prod,
      Array.from({ length: 3 }, (_, i) => ({ ...chat, custom_identifier: `${i}` })),
    );
    const first = (await own.prod.post("/api/request-logs/list/?page_size=2", { filters: chat })).json as ListAnswer;
    await storeSpans(own.prod, [{ ...chat, custom_identifier: "late" }]);
    const second = (await own.prod.post(String(first.next), { filters: chat })).json as ListAnswer;
    expect(second).toMatchObject({ count: 3, next: null, results: [{ custom_identifier: "0" }] });
    const back = (await own.prod.post(String(second.previous), { filters: chat })).json as ListAnswer;
    expect(namesOf(back.results)[0]).toBe("late");
  });

  test("a token that no list issued is refused by name, and is never a 500", async () => {
    const first = await listSpans(prod, chat, "page_size=2&sort_by=cost");
    const link = new URL(String(first.next));
    const own = String(link.searchParams.get("page_after"));
    const parts = JSON.parse(Buffer.from(own, "base64url").toString()) as unknown[];
    const forged = (index: number, value: unknown) =>
      Buffer.from(JSON.stringify(parts.with(index, value))).toString("base64url");
    const tokens = [
      "x",
      "e30",
      "x".repeat(5000),
      own.slice(0, -9),
      forged(0, "-cost"),
      forged(1, "9".repeat(30)),
      forged(2, "0"),
      forged(3, []),
      forged(3, ["0.5"]),
      forged(3, ["9999999999999999999"]),
      forged(3, ["1) OR (1"]),
      forged(4, "2026-99-99 00:00:00.000000000"),
      forged(4, "now()"),
      forged(5, "x"),
      forged(6, 1),
    ];
    for (const token of tokens) {
      link.searchParams.set("page_after", token);
      const answer = await prod.post(link.href, { filters: chat });
      expect([token, answer.status, Object.keys((answer.json as { errors: Row }).errors)]).toEqual([
        token,
        400,
        ["page_after"],
      ]);
    }
  });

  test("ones outside the window do not change a walk, nor do resends", async () => {
    const own = await app.newOrganization();
    const span = (i: number): Row => ({
      ...chat,
      custom_identifier: `${i}`,
      timestamp: moment,
      trace_unique_id: "t",
      span_unique_id: `${i}`,
    });
    await storeSpans(
      own.prod,
      Array.from({ length: total }, (_, i) => span(i)),
    );
    const window = "start_time=2025-12-01&end_time=2026-01-01T00:00:01Z";
    const seen: string[] = [];
    for (let page = 1; page <= 6; page += 1) {
      const answer = await own.prod.post(`/api/request-logs/list/?${window}&page_size=10&page=${page}`, {
        filters: chat,
      });
      seen.push(...namesOf((answer.json as ListAnswer).results));
      await storeSpans(own.prod, [span(page), span(total - page), { ...chat, custom_identifier: "new" }]);
    }
    expect(seen.sort()).toEqual(original);
  });
});

test("for any times and page size, pages partition the list", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(0, 1, 999_999_999, 1_000_000_000), { minLength: 1, maxLength: 60 }),
      fc.integer({ min: 1, max: 25 }),
      fc.constantFrom("timestamp", "-timestamp", "-cost"),
      async (offsets, pageSize, sort) => {
        const own = await app.newOrganization();
        const base = 1_767_225_600_000_000_000n;
        await storeSpans(
          own.prod,
          offsets.map((offset, i) => ({
            ...chat,
            custom_identifier: `${i}`,
            timestamp: String(base + BigInt(offset)),
          })),
        );
        const seen = await walk(own.prod, `sort_by=${sort}&page_size=${pageSize}`, chat);
        expect([...seen].sort()).toEqual(offsets.map((_, i) => `${i}`).sort());
        const times = seen.map((name) => offsets[Number(name)] ?? 0);
        const sorted = [...times].sort((a, b) => (sort === "timestamp" ? a - b : b - a));
        expect(times).toEqual(sort === "-cost" ? times : sorted);
      },
    ),
    { numRuns: 5 },
  );
});
