import { unitBuckets } from "../../../pricing/buckets.ts";
import { releaseDates } from "../../../pricing/genai-table.ts";
import { assumptions, fixedSources, reasons, versions } from "../../../pricing/receipt.ts";

/** `readReceipt` (pricing/receipt.ts) in SQL: a stored receipt as JSON text, '' for a span without usage and cost. */

const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
const list = (texts: readonly string[]): string => `[${texts.map(quoted).join(", ")}]`;

/** Maps `text` by a table of texts; texts that are not in the table become `otherwise`, by default they stay. */
const named = (text: string, table: Readonly<Record<string, string>>, otherwise = text): string =>
  `transform(${text}, ${list(Object.keys(table))}, ${list(Object.values(table))}, ${otherwise})`;

const asText = (sql: string): string => `toJSONString(${sql})`;
/** Numbers are stored as JavaScript writes them. */
const asNumber = (sql: string): string => `ifNull(toString(toFloat64OrNull(${sql})), 'null')`;

/** A list with an object for each item of the sections of one letter; `object` is SQL over the item's parts, `p`. */
function items(letter: string, object: string): string {
  const sections = `arrayFilter(s -> startsWith(s, '${letter}'), splitByChar('|', cost_details))`;
  const texts = `arrayFilter(i -> i != '', arrayFlatten(arrayMap(s -> splitByChar(',', substring(s, 3)), ${sections})))`;
  return `arrayMap(p -> ${object}, arrayMap(i -> splitByChar(':', i), ${texts}))`;
}

const joined = (array: string): string => `'[', arrayStringConcat(${array}, ','), ']'`;

const isUnit = `p[1] IN (${unitBuckets.map(quoted).join(", ")})`;
const product = "toFloat64OrZero(p[2]) * toFloat64OrZero(p[3])";
/** Rounded to twelve digits, like `withoutNoise`. */
const amount = `toString(toFloat64(printf('%.11e', if(${isUnit}, ${product}, ${product} / 1e6))))`;

const lines = items(
  "l",
  `concat('{"bucket":', ${asText("p[1]")}, if(${isUnit}, ',"units":', ',"tokens":'), ${asNumber("p[2]")}, ',"rate":', ${asNumber("p[3]")}, ',"amount":', ${amount}, '}')`,
);
const adjustments = items(
  "f",
  `concat('{"kind":', ${asText("p[1]")}, ',"value":', ${asText("decodeURLComponent(p[2])")}, ',"factor":', ${asNumber("p[3]")}, '}')`,
);
const assumed = items("a", asText(named("p[1]", assumptions)));
const unpriced = items(
  "u",
  `concat('{"bucket":', ${asText("decodeURLComponent(p[1])")}, ',"quantity":', ${asNumber("p[2]")}, ',"reason":', ${asText(named("p[3]", reasons))}, '}')`,
);
const tableCosts = items("t", `concat(',"table_cost":', ${asNumber("p[1]")})`);
const previous = items(
  "p",
  `concat('{"cost":', ${asNumber("p[1]")}, ',"price_version":', ${asText("decodeURLComponent(p[2])")}, ',"repriced_at":', ${asText("decodeURLComponent(p[3])")}, '}')`,
);

const version = "toString(price_version)";
const table = `splitByChar(' ', ${version})[1]`;
const dateOfTable = `extract(${table}, '@(\\\\d{4}-\\\\d\\\\d-\\\\d\\\\d)$')`;
const source = (kind: string, name = "'null'", date = "'null'"): string =>
  `concat('{"kind":', ${asText(kind)}, ',"name":', ${name}, ',"date":', ${date}, '}')`;
/** The source of a version with this prefix, after which it has for example `lab-1@2026-11-29`. */
const ownSource = (kind: string, start: string): string =>
  source(
    quoted(kind),
    asText(`substring(${version}, ${start.length + 1}, greatest(length(${version}) - ${start.length} - 11, 0))`),
    asText(`substring(${version}, greatest(length(${version}) - 9, 1))`),
  );

const sources = `multiIf(
  toString(cost_source) = 'stated', ${source("'stated'")},
  ${version} IN (${Object.keys(fixedSources).map(quoted).join(", ")}), ${source(named(version, fixedSources))},
  startsWith(${version}, ${quoted(versions.own)}), ${ownSource("own_price", versions.own)},
  startsWith(${version}, ${quoted(versions.instance)}), ${ownSource("instance_price", versions.instance)},
  ${source("'price_table'", asText(version), `replaceOne(${asText(named(table, releaseDates, dateOfTable))}, '""', 'null')`)})`;

export const exportedReceipt = `if(cost_details = '' AND toString(cost_source) = '', '', concat(
  '{"source":', ${sources}, ',"lines":', ${joined(lines)}, ',"adjustments":', ${joined(adjustments)},
  ',"assumptions":', ${joined(assumed)}, ',"unpriced":', ${joined(unpriced)}, arrayStringConcat(${tableCosts}),
  if(position(cost_details, '|p ') = 0, '', concat(',"previous":', ${joined(previous)})), '}'))`;
