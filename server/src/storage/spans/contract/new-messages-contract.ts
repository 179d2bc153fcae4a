import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withNewMessages } from "../queries/new-messages.ts";
import { parseFilters } from "../../../filter/parse.ts";
import { createSpanCatalogue } from "../../../filter/span-fields.ts";
import { toClickHouse } from "../../../filter/to-clickhouse.ts";
import type { TimeWindow } from "../span-store.ts";
import type { ContractDriver, TestRow } from "./span-fixtures.ts";
import { always, listOf, newOrganization, nsAt, spanRow, timeAt } from "./span-fixtures.ts";

type Message = Record<string, unknown>;
type Turn = TestRow & { span_name: string; prompt_messages: readonly Message[] };

const catalogue = withNewMessages(createSpanCatalogue());
const user = (content: unknown): Message => ({ role: "user", content });
const part = (text: string) => ({ type: "text", text });
const marked = (text: string) => user([{ ...part(text), cache_control: { type: "ephemeral" } }]);

const texts = ["yes", "no", "go on", "yes, go on"];
/** A text in any of the forms that are the same message, and some that are not. */
const anyMessage = fc
  .tuple(fc.constantFrom(...texts), fc.nat({ max: 4 }))
  .chain(([text, at]) =>
    fc.constantFrom(
      user(text),
      user([part(text)]),
      user([part(text.slice(0, at)), part(text.slice(at))]),
      marked(text),
      { ...user(text), mark: "zebra" },
      { role: "assistant", content: text },
    ),
  );
const anyConversation = fc.array(fc.tuple(fc.array(anyMessage, { maxLength: 5 }), fc.nat({ max: 3 })), {
  minLength: 2,
  maxLength: 5,
});

/** A filter by `new_messages` finds the spans whose new messages match it, and no others. */
export function describeNewMessages({ store, insert, once, variations }: ContractDriver): void {
  describe("a filter by new messages", () => {
    const hits = async (organization: string, new_messages: unknown, window: TimeWindow = always) => {
      const filter = toClickHouse(parseFilters({ new_messages }, catalogue).filter, catalogue);
      const query = listOf(organization, { filter, window, fields: ["span_name"], pageSize: 1000 });
      const { rows } = await store().listSpans(query);
      return namesOf(rows);
    };
    const newMessagesOf = async (organization_id: string, rows: readonly TestRow[]) =>
      await store().findNewMessages({ organization_id }, rows);
    const turn = (organization: string, thread: string, nth: number, at: number, prompt_messages: Message[]): Turn =>
      spanRow(organization, {
        span_name: `${thread}.${nth}`,
        thread_identifier: thread,
        timestamp: timeAt(at),
        prompt_messages,
      });

    it("uses the form in which messages were first sent", async () => {
      const org = newOrganization();
      const turns = [
        [marked("refund please"), user("yes")],
        [user("refund please"), marked("yes"), { ...user("yes"), mark: "second" }],
        [{ ...user("refund please"), mark: "third" }, marked("yes"), marked("yes")],
      ];
      await insert(turns.map((messages, nth) => turn(org, "t", nth, nth, messages)));
      const conditions: ReadonlyArray<[condition: unknown, found: string[]]> = [
        ["yes", ["t.0", "t.1"]],
        ["refund please", []],
        [{ operator: "contains", value: ["refund"] }, ["t.0"]],
        [{ operator: "endswith", value: ["please"] }, []],
        [{ operator: "contains", value: ["cache_control"] }, ["t.0"]],
        [{ operator: "iexact", value: ["SECOND"] }, ["t.1"]],
        ["third", []],
      ];
      for (const [condition, found] of variations(conditions)) {
        expect(await hits(org, condition), JSON.stringify(condition)).toEqual(found);
      }
    });

    once("finds text that is stored with unnecessary escapes", async () => {
      const org = newOrganization();
      const stated = { span_name: "said", log_type: "chat", thread_identifier: "t" };
      const input = String.raw`[{"role":"user","content":"caf\u00e9 and\/or tea"}]`;
      await insert([spanRow(org, { ...stated, input })]);
      for (const text of ["café", "and/or", "or tea"]) {
        expect(await hits(org, { operator: "contains", value: [text] }), text).toEqual(["said"]);
      }
      expect(await hits(org, { operator: "icontains", value: ["CAFÉ", "none"] })).toEqual(["said"]);
      expect(await hits(org, { operator: "contains", value: ["cafe"] })).toEqual([]);
    });

    once("agrees with the new messages of each span", async () => {
      const agree = async (conversations: Array<Array<[Message[], number]>>, from: number) => {
        const org = newOrganization();
        const rows = conversations.flatMap((turns, thread) => {
          let at = 0;
          return turns.map(([messages, later], nth) => turn(org, `${thread}`, nth, (at += later), messages));
        });
        await insert(rows);
        const newMessages = await newMessagesOf(org, rows);
        const members = new Map(rows.map((row) => [row, membersOf(row, newMessages.get(row.unique_id)?.places ?? [])]));
        const compare = async (operator: string, text: string, holds: (member: string) => boolean) => {
          const expected = rows.filter((row) => row.timestamp >= timeAt(from) && members.get(row)?.some(holds));
          const window = { fromNs: nsAt(from), toNs: nsAt(59) };
          const found = await hits(org, { operator, value: [text] }, window);
          expect(found, `${operator} ${text}`).toEqual(namesOf(expected));
        };
        for (const text of [...texts, "zebra"]) await compare("", text, (member) => member === text);
        for (const text of ["yes", "cache_control"]) await compare("contains", text, (member) => member.includes(text));
      };
      const conversations = fc.array(anyConversation, { minLength: 30, maxLength: 30 });
      const property = fc.asyncProperty(conversations, fc.nat({ max: 6 }), agree);
      await fc.assert(property, { numRuns: 1, endOnFailure: true });
    });
  });
}

function namesOf(rows: ReadonlyArray<{ span_name?: string }>): string[] {
  return rows.map((row) => row.span_name ?? "").sort();
}

function membersOf(row: Turn, places: readonly number[]): string[] {
  return places
    .flatMap((place) => Object.values(row.prompt_messages[place] ?? {}))
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
}
