import type { SpanRow } from "../../../domain/span.ts";
import { domainLimits } from "../../../domain/limits.ts";
import { storageLimits } from "../../limits.ts";
import {
  conversation,
  conversationColumns,
  idOf,
  identities,
  isOfConversation,
  messageColumns,
  messages,
  place,
  placeColumns,
} from "./conversation.ts";
import { endedWithin } from "./selection.ts";
import { createCatalogue, type Catalogue, type Field, type Source } from "../../../filter/catalogue.ts";

/**
 * Adds `new_messages` to the fields of spans: the messages that a span adds to its conversation. A condition holds if
 * it holds for any of them. Only for reads of a window of spans: the statement binds `organization_id`, `from_ns` and
 * `to_ns`, and a span in memory does not know the spans before it.
 */
export function withNewMessages(spans: Catalogue<SpanRow>): Catalogue<SpanRow> {
  const own = createCatalogue<SpanRow>({ fields: [newMessages] });
  return { fields: [...spans.fields, ...own.fields], find: (name) => own.find(name) ?? spans.find(name) };
}

const source: Source<SpanRow> = {
  sql: () => "member",
  withinSql: (scope, { on, isSearch }) =>
    `(${scope.column("unique_id")} GLOBAL IN (${firstSpansWith(on("member"), isSearch ? mayContain(on) : undefined)}))`,
  read: () => undefined,
  form: "either",
};

const newMessages: Field<SpanRow> = {
  name: "new_messages",
  kind: "dynamic",
  sources: [source],
  nullable: true,
  conditionsMax: domainLimits.newMessagesConditions,
  choices: [],
  valueAliases: new Map(),
  hidden: true,
};

/**
 * Whether a search may find anything in the messages of a row. Checks the stored text, so most rows need not be parsed.
 */
function mayContain(on: (value: string) => string): string {
  const stored = messageColumns.filter((column) => column !== "log_type").map(on);
  return `(${[...stored, ...["input", "output"].map(isEscaped)].join(" OR ")})`;
}

/**
 * JSON text is stored as it was sent, possibly with escapes that we do not write: a search in the stored text would
 * miss it.
 */
const isEscaped = (column: string) => `match(${column}, '(?s)^[ \\t\\r\\n]*[[{].*\\\\\\\\[u/]')`;

const columns = ["environment", ...conversationColumns, ...placeColumns, ...messageColumns].join(", ");
const mine = "organization_id = {organization_id:String}";
const at = (ns: string) => `fromUnixTimestamp64Nano(${ns}, 'UTC')`;
const [from, to] = [at("{from_ns:Int64}"), at("{to_ns:Int64}")];
const earliest = at(`{from_ns:Int64} - ${storageLimits.conversationLookBackDays * 86_400_000_000_000}`);
const conversationsWith = (row: string) =>
  `${conversation} GLOBAL IN (SELECT ${conversation} FROM spans WHERE ${mine} AND ${endedWithin(from, to)} AND ${row})`;

/**
 * The ids of spans that are the first in their conversation with a message for which `condition` holds for any
 * `member`. Only the first span with a message is tested, because a repeated message may have another form. Spans of
 * the window may repeat earlier ones, so earlier spans are read too. Finds the relevant conversations before it parses
 * their payload, except for tombstones and resends.
 */
function firstSpansWith(condition: string, isWorthReading: string | undefined): string {
  const isConcerned =
    isWorthReading === undefined
      ? `(timestamp >= ${from} OR ${conversationsWith(isOfConversation)})`
      : conversationsWith(isWorthReading);
  const holds = `arrayMap(message -> arrayExists(member -> ${condition}, mapValues(message)), messages)`;
  return `SELECT ${idOf("first.1")} FROM (
    SELECT min((place, held)) AS first FROM (
      SELECT conversation, ${place("length(messages)")} AS place, ${identities("messages")} AS ids, ${holds} AS holds FROM (
        SELECT ${conversation} AS conversation, ${placeColumns.join(", ")}, ${messages} FROM (
          SELECT ${columns} FROM spans FINAL
          PREWHERE ${mine} AND ${endedWithin(earliest, to)} AND (${isConcerned} OR is_deleted = 1 OR is_resend = 1)
        )
      )
    ) ARRAY JOIN ids AS id, arrayEnumerateUniq(ids) AS nth, holds AS held GROUP BY conversation, id, nth
  ) WHERE first.2`;
}
