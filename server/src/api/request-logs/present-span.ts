import type { ReadColumn } from "../../domain/span.ts";
import type { ScoredStoredSpan } from "./span-member.ts";
import { requestedMembers, spanMembers } from "./span-members.ts";

const keyMembers = ["id", "unique_id", "timestamp", "environment"];

/** The members of a list row: all, or the requested ones plus the row's ids. */
export function listMembers(includeFields: readonly string[] | undefined): string[] {
  if (includeFields === undefined) return Object.keys(spanMembers).filter((name) => spanMembers[name]?.lists === true);
  return [...new Set([...keyMembers, ...includeFields])];
}

export const allMembers = Object.keys(spanMembers);

/** The columns that have to be read for these members. */
export function columnsOf(members: readonly string[]): ReadColumn[] {
  return [...new Set(members.flatMap((name) => written.get(name)?.member.columns ?? []))];
}

/** One span as JSON text. A member without a value is null, so that a requested field is always present. */
export function presentSpan(span: ScoredStoredSpan, members: readonly string[]): string {
  let text = "";
  for (const name of members) {
    const known = written.get(name);
    const key = known?.key ?? JSON.stringify(name);
    text += `${text === "" ? "" : ","}${key}:${known?.member.json(span) ?? "null"}`;
  }
  return `{${text}}`;
}

/** Names are serialized once: each of very many spans has a hundred of them. */
const written = new Map(
  Object.entries({ ...spanMembers, ...requestedMembers }).map(([name, member]) => [
    name,
    { key: JSON.stringify(name), member },
  ]),
);
