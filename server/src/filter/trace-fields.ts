import { environments } from "../domain/principal.ts";
import type { SpanRow } from "../domain/span.ts";
import { traceNumbers, traceTexts, traceTimes } from "../domain/trace.ts";
import type { Condition, Filter } from "./ast.ts";
import { createCatalogue, type Catalogue, type Field, type FieldKind } from "./catalogue.ts";
import { toClickHouse, type SqlFilter } from "./to-clickhouse.ts";

/** A trace by its figures, for conditions that are read in memory. */
type TraceRow = Readonly<Record<string, unknown>>;

/**
 * The fields of traces: the figures that their rows show, and every field of spans. A condition on a field of spans
 * holds for a trace when it holds for any of its spans, and its negation when it holds for none.
 */
export type TraceCatalogue = Catalogue<TraceRow & SpanRow> & { spans: Catalogue<SpanRow> };

export function createTraceCatalogue(spans: Catalogue<SpanRow>): TraceCatalogue {
  const own = createCatalogue<TraceRow>({ fields: traceFields, aliases });
  return { ...own, spans, find: (name) => own.find(name) ?? spans.find(name) };
}

const aliases: ReadonlyArray<readonly [string, string]> = [["id", "trace_unique_id"]];

/** Those that are the same for all spans of a trace: they can be asked of the spans, before there are traces. */
const keyFields: ReadonlySet<string> = new Set(["trace_unique_id", "environment"]);

const traceFields: ReadonlyArray<Field<TraceRow>> = [
  figure("trace_unique_id", "text", "trace_unique_id"),
  { ...figure("environment", "text", "environment"), choices: environments },
  figure("name", "text"),
  ...traceTexts.map((name) => figure(name, "text")),
  ...traceTimes.map((name) => figure(name, "time")),
  ...traceNumbers.map((name) => figure(name, "number")),
];

function figure(name: string, kind: FieldKind, column = `figure_${name}`): Field<TraceRow> {
  const value = kind === "number" ? (sql: string) => `toFloat64(${sql})` : (sql: string) => sql;
  return {
    name,
    kind,
    sources: [
      { sql: (scope) => value(`toNullable(${scope.column(column)})`), read: (row) => row[name], form: "plain" },
    ],
    nullable: true,
    sortable: kind === "number" || kind === "time",
    choices: [],
    valueAliases: new Map(),
    hidden: false,
  };
}

export type TraceFilter = {
  where: SqlFilter | undefined;
  matches: SqlFilter[];
  having: SqlFilter;
  figures: string[];
};

/** The filter as conditions on spans and on figures; undefined where it lets everything through. See `TraceCondition`. */
export function toTraceFilter(filter: Filter, catalogue: TraceCatalogue): TraceFilter | undefined {
  if (filter.type === "all" && filter.filters.length === 0) return undefined;
  const matches: SqlFilter[] = [];
  const figures = new Set<string>();

  const liftConditions = (part: Filter): Filter => {
    if (part.type === "not") return { type: "not", filter: liftConditions(part.filter) };
    if (part.type !== "condition") return { type: part.type, filters: part.filters.map(liftConditions) };
    if (isFigure(part)) {
      if (!keyFields.has(part.field)) figures.add(part.field);
      return part;
    }
    const name = `match_${matches.length}`;
    matches.push(toClickHouse(part, catalogue.spans, { prefix: `m${matches.length}_` }));
    return { type: "condition", field: name, operator: "equal", values: [true] };
  };
  const lifted = liftConditions(filter);
  return {
    where: keyCondition(filter, catalogue),
    matches,
    having: toClickHouse(lifted, havingCatalogue, { prefix: "h" }),
    figures: [...figures],
  };
}

function isFigure({ field }: Condition): boolean {
  return figuresByName.has(field);
}

const figuresByName = new Map(traceFields.map((field) => [field.name, field]));

const havingCatalogue: Catalogue<TraceRow> = {
  fields: traceFields,
  find: (name) => figuresByName.get(name) ?? (/^match_\d+$/.test(name) ? matchField(name) : undefined),
};

function matchField(name: string): Field<TraceRow> {
  const source = { sql: () => name, read: (row: TraceRow) => row[name], form: "plain" } as const;
  return { ...figure(name, "boolean"), sources: [source], nullable: false };
}

/** What has to hold of every span: conditions on the key that nothing is an alternative to. */
function keyCondition(filter: Filter, { spans }: TraceCatalogue): SqlFilter | undefined {
  const parts = filter.type === "all" ? filter.filters : [filter];
  const onKey = parts.filter((part) => part.type === "condition" && keyFields.has(part.field));
  return onKey.length === 0 ? undefined : toClickHouse({ type: "all", filters: onKey }, spans, { prefix: "k" });
}
