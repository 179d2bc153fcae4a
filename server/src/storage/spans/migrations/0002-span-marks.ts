import { hasParent, markIndexes } from "./0001-spans.ts";
import { localTable, onCluster } from "./dialect.ts";
import type { Placement } from "./dialect.ts";

/**
 * The marks `is_resend` and `has_parent` (docs/adr/0012-windows-without-resends-are-read-without-final.md), for tables that were created before
 * `createSpans` had them. Existing rows may share keys, so all of them are marked.
 */
export function markSpans(placement: Placement): string[] {
  const alter = (table: string, changes: string) => `ALTER TABLE ${table}${onCluster(placement)} ${changes}`;
  const local = localTable(placement);
  const indexes = markIndexes.map((index) => `ADD INDEX IF NOT EXISTS ${index}`);
  return [
    alter(local, [...columns, ...indexes].join(", ")),
    ...(placement.cluster === null ? [] : [alter("spans", columns.join(", "))]),
    alter(local, "UPDATE is_resend = 1, has_parent = has_parent WHERE 1 SETTINGS mutations_sync = 2"),
  ];
}

const columns = [
  "ADD COLUMN IF NOT EXISTS is_resend UInt8 AFTER is_deleted",
  `ADD COLUMN IF NOT EXISTS has_parent UInt8 DEFAULT ${hasParent} AFTER span_parent_id`,
];
