import type { CustomerKey } from "../../../domain/customer.ts";
import type { SpanDatabase } from "../drivers/span-database.ts";
import { allOf, scopeWhere } from "./selection.ts";

// What calls said of their customer is kept as one member of a JSON object.
const extra = `if(position(extra, 'customer_params') = 0, extra, concat('{', arrayStringConcat(arrayMap(
  member -> concat(toJSONString(member.1), ':', member.2),
  arrayFilter(member -> member.1 != 'customer_params', JSONExtractKeysAndValuesRaw(extra))), ','), '}'))`;

/**
 * Newer versions of the customer's spans that do not name it, in the table when it resolves. A span that is sent again
 * afterwards is newer still, and says again whose it is. The rows replaced go when their parts are merged.
 */
export async function unnameCustomer(
  database: SpanDatabase,
  { organization_id, environment, customer_identifier }: CustomerKey,
  signal?: AbortSignal,
): Promise<void> {
  signal?.throwIfAborted();
  const where = allOf(scopeWhere({ organization_id, environment }), {
    sql: "customer_identifier = {customer:String}",
    params: { customer: customer_identifier },
  });
  await database.execute({
    name: "unname_customer",
    sql: `INSERT INTO spans SELECT * REPLACE ('' AS customer_identifier, '' AS customer_email, '' AS customer_name,
        ${extra} AS extra, version + 1 AS version, toUInt8(1) AS is_resend)
      FROM (SELECT * FROM spans FINAL WHERE ${where.sql})`,
    params: where.params,
    settings: { insert_deduplicate: 0, max_partitions_per_insert_block: 0, distributed_foreground_insert: 1 },
  });
}
