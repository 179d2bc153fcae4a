import type { SpanScope } from "../../../domain/span.ts";
import { parseTimeNs } from "../../../lib/time.ts";
import { storageLimits } from "../../limits.ts";
import type { ResultRow, SpanDatabase } from "../drivers/span-database.ts";
import type { NewMessages, StoredSpan } from "../span-store.ts";
import { conversation, conversationColumns, idOf, identities, messages, place, placeColumns } from "./conversation.ts";
import { readOnce, type Once } from "./once.ts";
import { allOf, scopeWhere, spansOf, windowWhere, type Where } from "./selection.ts";

/**
 * Reads the conversations of these spans, up to the last of them, and returns the messages that each span is the first
 * to have.
 */
export async function findNewMessages(
  database: SpanDatabase,
  scope: SpanScope,
  spans: readonly StoredSpan[],
  signal?: AbortSignal,
): Promise<Map<string, NewMessages>> {
  const parts = conversationsOf(scope, spans);
  if (parts.length === 0) return new Map();
  const ids = { ids: spans.map((span) => span.unique_id) };
  const read = async (once: Once) =>
    await database.query(
      {
        name: "new_messages",
        sql: `SELECT ${idOf("first.1")} AS unique_id, groupArray(first.2) AS places, any(first.3) AS count FROM (
            SELECT min((${place("length(ids)")}, nth_message, length(ids))) AS first
            FROM (SELECT ${placeColumns.join(", ")}, conversation, ${identities("messages")} AS ids FROM (
              SELECT ${placeColumns.join(", ")}, ${conversation} AS conversation, ${messages} FROM ${spansOf(parts, once)}))
            ARRAY JOIN ids AS id, arrayEnumerateUniq(ids) AS nth, arrayEnumerate(ids) AS nth_message
            GROUP BY conversation, id, nth
          ) WHERE unique_id IN {ids:Array(UUID)} GROUP BY unique_id`,
        params: Object.assign(ids, ...parts.map(({ params }) => params)) as Where["params"],
      },
      signal,
    );
  const { rows } = await readOnce(database, { parts: parts.map((where) => ({ where })) }, read, signal);
  const found = new Map(rows.map((row) => [String(row["unique_id"]), newMessagesOf(row)]));
  const inConversation = spans.filter((span) => conversationColumns.some((column) => span[column]));
  return new Map(inConversation.map(({ unique_id: id }) => [id, found.get(id) ?? { places: [], count: 0 }]));
}

const lookBackNs = BigInt(storageLimits.conversationLookBackDays) * 86_400_000_000_000n;

const nsOf = (stored: string | undefined): bigint => parseTimeNs(stored ?? "") ?? 0n;

/**
 * Selects these spans and the ones before them, by the column that names their conversation: each column has its own
 * index.
 */
function conversationsOf(scope: SpanScope, spans: readonly StoredSpan[]): Where[] {
  const ends = spans.map((span) => span.timestamp).toSorted();
  const window = windowWhere({ fromNs: nsOf(ends[0]) - lookBackNs, toNs: nsOf(ends.at(-1)) });
  return conversationColumns.flatMap((column, rank) => {
    const narrower = conversationColumns.slice(0, rank);
    const named = spans.filter((span) => span[column] && !narrower.some((other) => span[other]));
    if (named.length === 0) return [];
    const unnamed = narrower.map((other) => ` AND ${other} = ''`).join("");
    const names = [...new Set(named.map((span) => span[column] ?? ""))];
    return [
      allOf(scopeWhere(scope), window, {
        sql: `${column} IN {${column}s:Array(String)}${unnamed}`,
        params: { [`${column}s`]: names },
      }),
    ];
  });
}

function newMessagesOf(row: ResultRow): NewMessages {
  const places = (row["places"] as unknown[]).map((nth) => Number(nth) - 1);
  return { places: places.toSorted((a, b) => a - b), count: Number(row["count"]) };
}
