/**
 * The filterable fields of a resource. Each field is defined twice, as SQL and over a row in memory, side by side; the
 * parity test checks that both agree.
 */

/**
 * - `text`: '' is the same as absent.
 * - `uuid`: text of a UUID column, never absent.
 * - `number`, `boolean`, `time`: typed; null is absent. Times are text as stored, `YYYY-MM-DD hh:mm:ss.nnnnnnnnn`.
 * - `dynamic`: text that may be a number, such as a metadata value; '' is a value, distinct from absence.
 */
export type FieldKind = "text" | "uuid" | "number" | "boolean" | "time" | "dynamic";

/** The form of a source's text, which decides what `contains` compares. */
export type TextForm =
  /** Unencoded. */
  | "plain"
  /** JSON text: strings in it are compared decoded. */
  | "json"
  /** Plain text or JSON text. */
  | "either";

export type BoundType = "String" | "Array(String)" | "UUID" | "Array(UUID)" | "Float64" | "Array(Float64)" | "Time";

/** The context for building an SQL expression. User text enters a statement only through `bind`. */
export type SqlScope = {
  /**
   * A column of the table, qualified if the statement needs it. `key`: the only top-level key of a map that is read.
   */
  column(name: string, key?: string): string;
  /** A placeholder for a bound value; numbers are bound as text, which preserves every digit. */
  bind(type: BoundType, value: string | readonly string[]): string;
};

/** A condition on a value, given as an SQL expression of the source's kind. */
export type ValueTest = {
  on: (value: string) => string;
  /** Whether it searches for text within the value: every text that contains the value then matches too. */
  isSearch: boolean;
};

export type Source<Row> = {
  /**
   * The value: String for `text` and `dynamic`, UUID for `uuid`, Float64 for `number`, Bool for `boolean`,
   * DateTime64(9, 'UTC') for `time`; the last three may be Nullable. Absent text and dynamic values are ''.
   */
  sql(scope: SqlScope): string;
  /** `dynamic` only: whether the value exists. */
  presentSql?(scope: SqlScope): string;
  /** `dynamic` only, optional: an array that contains the value, for a skip index if `sql` cannot use one. */
  candidatesSql?(scope: SqlScope): string;
  /**
   * For values outside the row, such as those of another table: one condition on the row, which holds if `test` holds
   * for a value there. A row without a value matches none.
   */
  withinSql?(scope: SqlScope, test: ValueTest): string;
  /** The same value in memory: undefined, null (or '' for text) if absent. JSON may be returned as a parsed value. */
  read(row: Row): unknown;
  form: TextForm;
};

export type Field<Row> = {
  name: string;
  kind: FieldKind;
  /** A condition holds if it holds for any source; the field is absent if all are. */
  sources: readonly Source<Row>[];
  nullable: boolean;
  /** The most conditions on it per request, if each is expensive. */
  conditionsMax?: number;
  /** Values to offer, if the set is closed. */
  choices: readonly string[];
  /** Spellings of a value, lower case, that mean a stored one: `error` is stored as `failed`. */
  valueAliases: ReadonlyMap<string, string>;
  /** Works, but is not useful in a menu. */
  hidden: boolean;
};

export type Catalogue<Row> = {
  /** The field of a name or an alias; undefined if there is none. */
  find(name: string): Field<Row> | undefined;
  /** The fixed fields, in the order of a menu. */
  fields: readonly Field<Row>[];
};

/** A family creates fields for names of one form, such as `metadata__<key>`; undefined for every other name. */
export type FieldFamily<Row> = (name: string) => Field<Row> | undefined;

export function createCatalogue<Row>(parts: {
  fields: readonly Field<Row>[];
  aliases?: ReadonlyArray<readonly [alias: string, name: string]>;
  families?: ReadonlyArray<FieldFamily<Row>>;
}): Catalogue<Row> {
  const byName = new Map(parts.fields.map((field) => [field.name, field]));
  for (const [alias, name] of parts.aliases ?? []) {
    const field = byName.get(name);
    if (field === undefined) throw new Error(`alias ${alias} names no field: ${name}`);
    byName.set(alias, field);
  }
  const families = parts.families ?? [];
  return {
    fields: parts.fields,
    find(name) {
      const fixed = byName.get(name);
      if (fixed !== undefined) return fixed;
      for (const family of families) {
        const field = family(name);
        if (field !== undefined) return field;
      }
      return undefined;
    },
  };
}
