import type { CustomerKey } from "../../../domain/customer.ts";
import { gatewayLogMethod } from "../../../domain/span.ts";
import { storageLimits } from "../../limits.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import { allOf, scopeWhere, type Where } from "./selection.ts";
import { fieldsEdited } from "./span-edits.ts";

// What calls sent about their customer is one member of a JSON object.
const extra = `if(position(extra, 'customer_params') = 0, extra, concat('{', arrayStringConcat(arrayMap(
  member -> concat(toJSONString(member.1), ':', member.2),
  arrayFilter(member -> member.1 != 'customer_params', JSONExtractKeysAndValuesRaw(extra))), ','), '}'))`;

/**
 * Writes newer versions of the customer's spans that do not name it, and removes the notes that people added to them;
 * stored when it resolves. The replaced rows are deleted when their parts are merged.
 */
export async function unnameCustomer(
  database: SpanDatabase,
  { organization_id, environment, customer_identifier }: CustomerKey,
  erasedNs?: bigint,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const named = allOf(scopeWhere({ organization_id, environment }), {
    sql: "customer_identifier = {customer:String}",
    params: { customer: customer_identifier },
  });
  const where = erasedNs === undefined ? named : allOf(named, before(erasedNs));
  // First, because the notes are found by the customer's name.
  await removeNotes(database, organization_id, where);
  await database.execute({
    name: "unname_customer",
    sql: `INSERT INTO spans SELECT * REPLACE ('' AS customer_identifier, '' AS customer_email, '' AS customer_name,
        ${extra} AS extra, version + 1 AS version, toUInt8(1) AS is_resend)
      FROM (SELECT * FROM spans FINAL WHERE ${where.sql})`,
    params: where.params,
    settings: insertSettings,
  });
}

/**
 * Notes may say anything about a customer. Other edits stay: ratings and pins name nobody, and removed keys of metadata
 * would be there again.
 */
async function removeNotes(database: SpanDatabase, organization_id: string, named: Where): Promise<void> {
  if (!(await fieldsEdited(database, { organization_id })).has("note")) return;
  await database.execute({
    name: "unname_notes",
    sql: `INSERT INTO span_edits (organization_id, unique_id, field, key, version, is_deleted, value)
      SELECT organization_id, unique_id, field, key, version + 1, toUInt8(1), '' FROM span_edits FINAL
      WHERE organization_id = {organization_id:String} AND field = 'note'
        AND unique_id GLOBAL IN (SELECT unique_id FROM spans FINAL WHERE ${named.sql})`,
    params: named.params,
    settings: insertSettings,
  });
}

const insertSettings = {
  insert_deduplicate: 0,
  max_partitions_per_insert_block: 0,
  distributed_foreground_insert: 1,
};

/** Received before a time, or by a node that did not know of the deletion yet; see ingest/erased-customers.ts. */
function before(ns: bigint): Where {
  const at = (param: string) => `fromUnixTimestamp64Nano({${param}:Int64}, 'UTC')`;
  const [erased, observed] = [at("erased_ns"), at("heard_ns")];
  const isOfBefore = `(timestamp <= ${erased} OR (log_method = '${gatewayLogMethod}' AND start_time <= ${erased}))`;
  return {
    sql: `(received_at <= ${erased} OR (received_at <= ${observed} AND ${isOfBefore}))`,
    params: {
      erased_ns: ns.toString(),
      heard_ns: (ns + BigInt(storageLimits.erasureObservedMs) * 1_000_000n).toString(),
    },
  };
}
