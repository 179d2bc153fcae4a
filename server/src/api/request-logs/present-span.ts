import type { ReadColumn } from "../../domain/span.ts";
import type { ScoredStoredSpan } from "./span-member.ts";
import { askedMembers, spanMembers } from "./span-members.ts";

const keyMembers = ["id", "unique_id", "timestamp", "environment"];

/** The members of a row in lists: all, or those asked for beside the ones that tell rows apart. */
export function listMembers(includeFields: readonly string[] | undefined): string[] {
  if (includeFields === undefined) return Object.keys(spanMembers).filter((name) => spanMembers[name]?.lists === true);
  return [...new Set([...keyMembers, ...includeFields])];
}

export const allMembers = Object.keys(spanMembers);

/** What the store has to read for these members. */
export function columnsOf(members: readonly string[]): ReadColumn[] {
  return [...new Set(members.flatMap((name) => written.get(name)?.member.columns ?? []))];
}

/** One span as JSON text. A member that no span has is null, so that a field asked for is always there. */
export function presentSpan(span: ScoredStoredSpan, members: readonly string[]): string {
  let text = "";
  for (const name of members) {
    const known = written.get(name);
    const key = known?.key ?? JSON.stringify(name);
    text += `${text === "" ? "" : ","}${key}:${known?.member.json(span) ?? "null"}`;
  }
  return `{${text}}`;
}

/** With their names as JSON: there are a hundred of them in each of very many spans. */
const written = new Map(
  Object.entries({ ...spanMembers, ...askedMembers }).map(([name, member]) => [
    name,
    { key: JSON.stringify(name), member },
  ]),
);
