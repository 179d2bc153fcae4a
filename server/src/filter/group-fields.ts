import type { SpanRow } from "../domain/span.ts";
import type { Condition, Filter } from "./ast.ts";
import { createCatalogue, type Catalogue, type Field, type FieldKind } from "./catalogue.ts";
import { toClickHouse, type SqlFilter } from "./to-clickhouse.ts";

/** The figures of a group of spans, for conditions that are evaluated in memory. */
type GroupRow = Readonly<Record<string, unknown>>;

/**
 * The fields of a resource that groups spans: its own figures, and every field of spans. A condition on a span field
 * holds for a group if it holds for any of its spans, and its negation if it holds for none. A field is absent from a
 * group if it is absent from every span.
 */
export type GroupCatalogue = Catalogue<GroupRow & SpanRow> & {
  own: ReadonlyMap<string, Field<GroupRow>>;
  /** Fields that are equal for all spans of a group: they can be tested on the spans, before grouping. */
  keys: ReadonlySet<string>;
  spans: Catalogue<SpanRow>;
};

export function createGroupCatalogue(
  parts: {
    keys: readonly string[];
    figures: ReadonlyArray<readonly [name: string, kind: FieldKind]>;
    aliases?: ReadonlyArray<readonly [alias: string, name: string]>;
  },
  spans: Catalogue<SpanRow>,
): GroupCatalogue {
  const fields = [
    ...parts.keys.map((name) => groupField(name, "text", name)),
    ...parts.figures.map(([name, kind]) => groupField(name, kind, `figure_${name}`)),
  ];
  const catalogue = createCatalogue<GroupRow>({ fields, aliases: parts.aliases ?? [] });
  return {
    ...catalogue,
    find: (name) => catalogue.find(name) ?? spans.find(name),
    own: new Map(fields.map((field) => [field.name, field])),
    keys: new Set(parts.keys),
    spans,
  };
}

function groupField(name: string, kind: FieldKind, column: string): Field<GroupRow> {
  const value = kind === "number" ? (sql: string) => `toFloat64(${sql})` : (sql: string) => sql;
  const source = {
    sql: (scope: { column(name: string): string }) => value(scope.column(column)),
    read: (row: GroupRow) => row[name],
    form: "plain",
  } as const;
  return {
    name,
    kind,
    sources: [source],
    nullable: kind === "text",
    choices: [],
    valueAliases: new Map(),
    hidden: false,
  };
}

/** See `GroupCondition` of the span store. */
export type GroupFilter = { where: SqlFilter | undefined; matches: SqlFilter[]; having: SqlFilter; figures: string[] };

/** The filter as conditions on spans and on figures; undefined if it matches everything. */
export function toGroupFilter(filter: Filter, catalogue: GroupCatalogue): GroupFilter | undefined {
  if (filter.type === "all" && filter.filters.length === 0) return undefined;
  const matches: SqlFilter[] = [];
  const figures = new Set<string>();

  const lift = (part: Filter): Filter => {
    if (part.type === "not") return { type: "not", filter: lift(part.filter) };
    if (part.type !== "condition") return { type: part.type, filters: part.filters.map(lift) };
    if (catalogue.own.has(part.field)) {
      if (!catalogue.keys.has(part.field)) figures.add(part.field);
      return part;
    }
    const isAbsence = part.operator === "isnull" && part.values[0] === true;
    if (isAbsence) return { type: "not", filter: lift({ ...part, values: [false] }) };
    const name = `match_${matches.length}`;
    matches.push(toClickHouse(part, catalogue.spans, { prefix: `m${matches.length}_` }));
    return { type: "condition", field: name, operator: "equal", values: [true] };
  };
  const lifted = lift(filter);
  return {
    where: keyFilter(filter, catalogue),
    matches,
    having: toClickHouse(lifted, havingCatalogue(catalogue), { prefix: "h" }),
    figures: [...figures],
  };
}

function havingCatalogue({ own }: GroupCatalogue): Catalogue<GroupRow> {
  return {
    fields: [...own.values()],
    find: (name) => own.get(name) ?? (/^match_\d+$/.test(name) ? groupField(name, "boolean", name) : undefined),
  };
}

/** Conditions that must hold for every span: those on a key, joined by AND at the top level. */
function keyFilter(filter: Filter, { keys, spans }: GroupCatalogue): SqlFilter | undefined {
  const isOnKey = (part: Filter): part is Condition => part.type === "condition" && keys.has(part.field);
  const onKey = (filter.type === "all" ? filter.filters : [filter]).filter(isOnKey);
  return onKey.length === 0 ? undefined : toClickHouse({ type: "all", filters: onKey }, spans, { prefix: "k" });
}
