import { describe, expect, it } from "vitest";
import { withNewMessages } from "../queries/new-messages.ts";
import { parseFilters } from "../../../filter/parse.ts";
import { createSpanCatalogue } from "../../../filter/span-fields.ts";
import { toClickHouse } from "../../../filter/to-clickhouse.ts";
import type { ContractDriver, TestRow } from "./span-fixtures.ts";
import { ascending, everythingOf, listOf, newOrganization, nsAt, spanRow, timeAt } from "./span-fixtures.ts";

export function describeConversations({ store, insert }: ContractDriver): void {
  describe("conversations", () => {
    const stated = Array.from({ length: 20 }, (_, i) => ({ role: "user", content: `message ${i}.` }));
    const turnOf = (org: string, n: number, more: object = {}) =>
      spanRow(org, { timestamp: timeAt(n), thread_identifier: "t", prompt_messages: stated.slice(0, n + 1), ...more });
    const catalogue = withNewMessages(createSpanCatalogue());
    const saying = (text: string) =>
      toClickHouse(
        parseFilters({ new_messages: { operator: "contains", value: [text] } }, catalogue).filter,
        catalogue,
      );
    const hits = async (org: string, text: string, more = {}) => {
      const { count, rows } = await store().listSpans(
        listOf(org, { filter: saying(text), sort: ascending("timestamp"), ...more }),
      );
      expect(rows).toHaveLength(count);
      return rows.map((row) => row.timestamp);
    };
    const found = async (org: string, rows: readonly TestRow[]) =>
      await store().findNewMessages({ organization_id: org }, rows);

    it("add messages turn by turn, in whatever order spans came in", async () => {
      const org = newOrganization();
      const turns = stated.map((_, n) => turnOf(org, n));
      await insert(turns.slice(10));
      await insert(turns.slice(0, 10));
      expect(await found(org, turns.slice(5, 15))).toEqual(
        new Map(turns.slice(5, 15).map((row, i) => [row.unique_id, { places: [5 + i], count: 6 + i }])),
      );
      expect(await hits(org, "message 7.")).toEqual([timeAt(7)]);
      expect(await hits(org, "message ")).toEqual(turns.map((row) => row.timestamp));
      const window = { fromNs: nsAt(8), toNs: nsAt(12) };
      expect(await hits(org, "message ", { window })).toEqual([8, 9, 10, 11, 12].map(timeAt));
      expect(await hits(org, "message 7.", { window })).toEqual([]);
      const { number_of_requests } = await store().summarizeSpans({
        ...everythingOf(org),
        filter: saying("message 1"),
      });
      expect(number_of_requests).toBe(11);
    });

    it("are separate for each organization and environment", async () => {
      const [org, other] = [newOrganization(), newOrganization()];
      const [own, theirs, tried] = [turnOf(org, 1), turnOf(other, 0), turnOf(org, 0, { environment: "test" })];
      await insert([own, theirs, tried]);
      expect(await found(org, [own, tried])).toEqual(
        new Map([
          [own.unique_id, { places: [0, 1], count: 2 }],
          [tried.unique_id, { places: [0], count: 1 }],
        ]),
      );
      expect(await hits(org, "message 0.")).toEqual([timeAt(0), timeAt(1)]);
      expect(await hits(org, "message 0.", { scope: { organization_id: org, environment: "prod" } })).toEqual([
        timeAt(1),
      ]);
    });

    it("use the last version of each span, without deleted spans", async () => {
      const org = newOrganization();
      const [first, second, third] = [turnOf(org, 0), turnOf(org, 1), turnOf(org, 2)];
      await insert([first, second, third]);
      await insert([{ ...second, version: "2", prompt_messages: stated.slice(0, 1) }]);
      expect(await found(org, [second, third])).toEqual(
        new Map([
          [second.unique_id, { places: [], count: 0 }],
          [third.unique_id, { places: [1, 2], count: 3 }],
        ]),
      );
      await insert([{ ...first, version: "3", is_deleted: 1 }]);
      expect(await found(org, [second])).toEqual(new Map([[second.unique_id, { places: [0], count: 1 }]]));
      const window = { fromNs: nsAt(1), toNs: nsAt(2) };
      expect(await hits(org, "message 0.", { window })).toEqual([timeAt(1)]);
      expect(await hits(org, "message 1.", { window })).toEqual([timeAt(2)]);
    });

    it("are named by thread, else by session, else by trace; a span without these is on its own", async () => {
      const org = newOrganization();
      const names = { thread_identifier: "t", session_identifier: "s", trace_unique_id: "r" };
      const kinds = [
        {},
        { thread_identifier: "" },
        { thread_identifier: "", session_identifier: "" },
        { thread_identifier: "", session_identifier: "", trace_unique_id: "" },
      ];
      const rows = kinds.flatMap((kind) => [0, 1].map((n) => turnOf(org, n, { ...names, ...kind })));
      await insert(rows);
      const adds = await found(org, rows);
      expect(rows.map((row) => adds.get(row.unique_id)?.places)).toEqual([
        [0],
        [1],
        [0],
        [1],
        [0],
        [1],
        undefined,
        undefined,
      ]);
      expect(await hits(org, "message 0.")).toEqual([0, 0, 0, 0, 1].map(timeAt));
    });

    it("identify messages by content, calls and results", async () => {
      const org = newOrganization();
      const user = (content: unknown) => ({ role: "user", content });
      const text = { type: "text", text: "x" };
      const calls = [{ id: "call_1", type: "function", function: { name: "find", arguments: '{"a":1}' } }];
      const calling = (tool_calls: unknown) => ({ role: "assistant", content: null, tool_calls });
      const image = (url: string) => user([{ type: "image_url", image_url: { url } }]);
      const result = (tool_call_id: string) => ({ role: "tool", tool_call_id, content: "ok" });
      const same: ReadonlyArray<[first: unknown, again: unknown]> = [
        [user([text]), user([{ ...text, cache_control: { type: "ephemeral" } }])],
        [user("x"), user([text])],
        [user("x"), { content: "x", role: "user" }],
        [
          { content: "x", refusal: null },
          { role: "assistant", content: "x" },
        ],
        [calling(calls), { role: "assistant", tool_calls: calls }],
      ];
      const different: ReadonlyArray<[first: unknown, other: unknown]> = [
        [user("x"), { role: "assistant", content: "x" }],
        [calling(calls), calling([{ ...calls[0], function: { name: "find", arguments: "{}" } }])],
        [calling([{ name: "find", args: { a: 1 } }]), calling([{ name: "find", args: { a: 2 } }])],
        [result("1"), result("2")],
        [image("a"), image("b")],
        [
          { type: "call_output", output: "a" },
          { type: "call_output", output: "b" },
        ],
        ["x", "y"],
        ["x", user("x")],
      ];
      const pairs = [...same, ...different].flatMap((messages, i) =>
        messages.map((message, n) => turnOf(org, n, { thread_identifier: `pair ${i}`, prompt_messages: [message] })),
      );
      // Integers beyond the range of the engine, which it cannot read: the whole list is one message.
      const long = (more: string) => `[{"role":"user","n":123456789012345678901234567890}${more}]`;
      const lists = [long(""), long(""), long(',{"role":"user"}')].map((prompt_messages, n) =>
        turnOf(org, n, { thread_identifier: "long", prompt_messages }),
      );
      await insert([...pairs, ...lists]);
      const adds = await found(org, [...pairs, ...lists]);
      const placesOf = (row: TestRow) => adds.get(row.unique_id)?.places;
      const seconds = pairs.filter((_, i) => i % 2 === 1);
      expect(seconds.map(placesOf)).toEqual([...same.map(() => []), ...different.map(() => [0])]);
      expect(lists.map(placesOf)).toEqual([[0], [], [0]]);
    });
  });
}
