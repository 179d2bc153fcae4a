/**
 * What can be filtered on a resource. Each field has its meaning twice, as SQL and over a row in memory, side by side;
 * the parity test holds the two together.
 */

/**
 * - `text`: '' is the same as absent.
 * - `uuid`: text of a UUID column, never absent.
 * - `number`, `boolean`, `time`: typed; null is absent. Times are text as stored, `YYYY-MM-DD hh:mm:ss.nnnnnnnnn`.
 * - `dynamic`: text that may be a number, such as a metadata value; '' is a value, absence is told apart.
 */
export type FieldKind = "text" | "uuid" | "number" | "boolean" | "time" | "dynamic";

/** How the text of a source was written, which decides what `contains` compares. */
export type TextForm =
  /** As it is. */
  | "plain"
  /** JSON text: strings in it are compared decoded. */
  | "json"
  /** Either of the two. */
  | "either";

export type BoundType = "String" | "Array(String)" | "UUID" | "Array(UUID)" | "Float64" | "Array(Float64)" | "Time";

/** What an SQL expression is built with. User text enters a statement through `bind` alone. */
export type SqlScope = {
  /** A column of the table, qualified where the statement needs it. `key`: the only top-level key of a map that is read. */
  column(name: string, key?: string): string;
  /** A placeholder for a bound value; numbers are bound as their text, which loses no digit. */
  bind(type: BoundType, value: string | readonly string[]): string;
};

/** A condition on some value, an expression of the source's kind. */
export type ValueTest = {
  on: (value: string) => string;
  /** Whether it looks for text within the value: what contains the value then fulfils it too. */
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
  /** `dynamic` only, optional: an array that holds the value, to be narrowed by a skip index where `sql` cannot. */
  candidatesSql?(scope: SqlScope): string;
  /**
   * For values that are not in the row itself, such as those of another table: one condition on the row, which holds when
   * `test` does of a value there. A row without a value fulfils none.
   */
  withinSql?(scope: SqlScope, test: ValueTest): string;
  /** The same value in memory: undefined, null (or '' for text) when absent. JSON may be given as its value. */
  read(row: Row): unknown;
  form: TextForm;
};

export type Field<Row> = {
  name: string;
  kind: FieldKind;
  /** A condition holds when it holds for any of them; the field is absent when all are. */
  sources: readonly Source<Row>[];
  nullable: boolean;
  /** How many conditions on it a request may have, where each is much work. */
  conditionsMax?: number;
  /** Values worth offering, where the set is closed. */
  choices: readonly string[];
  /** Spellings of a value, lower case, that mean a stored one: `error` is stored as `failed`. */
  valueAliases: ReadonlyMap<string, string>;
  /** Works, but is of no use in a menu. */
  hidden: boolean;
};

export type Catalogue<Row> = {
  /** The field behind a name or an alias; undefined when there is none. */
  find(name: string): Field<Row> | undefined;
  /** The fixed fields, in the order of a menu. */
  fields: readonly Field<Row>[];
};

/** A family makes fields for names of one form, such as `metadata__<key>`; undefined for every other name. */
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
