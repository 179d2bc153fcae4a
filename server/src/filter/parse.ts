import { ServiceError } from "../domain/errors.ts";
import { isObject } from "../lib/json.ts";
import { filterLimits } from "./limits.ts";
import type { Condition, Filter, FilterValue } from "./ast.ts";
import { everything, joinFilters } from "./ast.ts";
import type { Catalogue, Field } from "./catalogue.ts";
import type { OperatorMeaning } from "./operators.ts";
import { operatorsOf, readOperator } from "./operators.ts";
import { kindNames, readBoolean, readValue } from "./values.ts";

/** `strict`: an unknown field or operator is a 400. `lenient`: its condition is left out and reported. */
export type ParseMode = "strict" | "lenient";

export type ParsedFilter = {
  filter: Filter;
  /** The number of conditions that were understood; 0 means that the filter holds for every row. */
  conditions: number;
  /** Conditions that lenient reading left out, with a reason that names the field or operator. */
  ignored: ReadonlyArray<{ field: string; reason: string }>;
};

/**
 * Reads the `filters` of a request body, see docs/filter-language.md. Absent or null filters hold for every row.
 *
 * @throws ServiceError `invalid_request` that names the field.
 */
export function parseFilters<Row>(input: unknown, catalogue: Catalogue<Row>, mode: ParseMode = "strict"): ParsedFilter {
  if (input === undefined || input === null) return { filter: everything, conditions: 0, ignored: [] };
  if (!isObject(input)) throw rejection("filters", "filters must be an object of field names");
  const reader = new FilterReader(catalogue, mode);
  return reader.result(reader.bundle(input, "all", 0));
}

/**
 * Reads a sequence of field names with their conditions; a name may occur several times. Conditions may also have the
 * members `beside`.
 */
export function parseConditions<Row>(
  members: ReadonlyArray<readonly [field: string, condition: unknown]>,
  catalogue: Catalogue<Row>,
  options: { mode?: ParseMode; connector?: "all" | "any"; beside?: readonly string[] } = {},
): ParsedFilter {
  const { mode = "strict", connector = "all", beside = [] } = options;
  const reader = new FilterReader(catalogue, mode, beside);
  return reader.result(reader.members(members, connector, 0));
}

/**
 * Reads a condition policy: `{rules: [{field, operator, value}], connector: "AND" | "OR"}`.
 *
 * @throws ServiceError `invalid_request` that names the field.
 */
export function parsePolicy<Row>(policy: unknown, catalogue: Catalogue<Row>): ParsedFilter {
  const rules = isObject(policy) ? policy["rules"] : undefined;
  if (!isObject(policy) || !Array.isArray(rules)) throw rejection("rules", "rules must be an array");
  const members = rules.map((rule: unknown, index): readonly [string, unknown] => {
    const name = isObject(rule) ? rule["field"] : undefined;
    if (typeof name !== "string") throw rejection(`rules.${index}`, `rule ${index} must be an object with a field`);
    return [name, rule];
  });
  const connector = readConnector("connector", policy["connector"]) ?? "all";
  return parseConditions(members, catalogue, { connector, beside: ["field"] });
}

const conditionMembers = ["operator", "value", "connector"];

type Joined = { connector: "all" | "any"; filter: Filter };

/** Counts and reports over one filter. */
class FilterReader<Row> {
  readonly #catalogue: Catalogue<Row>;
  readonly #mode: ParseMode;
  readonly #members: ReadonlySet<string>;
  readonly #ignored: Array<{ field: string; reason: string }> = [];
  #seen = 0;
  #understood = 0;
  #chars = 0;

  constructor(catalogue: Catalogue<Row>, mode: ParseMode, beside: readonly string[] = []) {
    this.#catalogue = catalogue;
    this.#mode = mode;
    this.#members = new Set([...conditionMembers, ...beside]);
  }

  result(filter: Filter | undefined): ParsedFilter {
    return { filter: filter ?? everything, conditions: this.#understood, ignored: this.#ignored };
  }

  /** An object of fields, or `{connector, filter_params}` around such an object or a list of them. */
  bundle(input: Record<string, unknown>, connector: "all" | "any", depth: number): Filter | undefined {
    if (!Object.hasOwn(input, "filter_params")) return this.members(Object.entries(input), connector, depth);
    if (depth >= filterLimits.filterDepth) {
      throw rejection("filter_params", `filter_params may be nested ${filterLimits.filterDepth} deep`);
    }
    const inner = readConnector("connector", input["connector"]) ?? "all";
    const params = input["filter_params"];
    if (isObject(params)) return this.bundle(params, inner, depth + 1);
    if (!Array.isArray(params))
      throw rejection("filter_params", "filter_params must be an object or a list of objects");
    return fold(
      params.map((part: unknown) => {
        if (!isObject(part)) throw rejection("filter_params", "filter_params must be an object or a list of objects");
        return join(inner, this.bundle(part, inner, depth + 1));
      }),
    );
  }

  members(
    members: ReadonlyArray<readonly [string, unknown]>,
    connector: "all" | "any",
    depth: number,
  ): Filter | undefined {
    return fold(members.map(([name, value]) => this.#member(name, value, connector, depth)));
  }

  #member(name: string, value: unknown, connector: "all" | "any", depth: number): Joined | undefined {
    if (isObject(value) && Object.hasOwn(value, "filter_params"))
      return join(connector, this.bundle(value, connector, depth));
    if (!Array.isArray(value) || !value.some(isObject)) return this.#condition(name, value, connector);
    const parts = value.map((part: unknown) => {
      if (!isObject(part)) throw rejection(name, `filter field ${quote(name)} mixes conditions and values`);
      return this.#condition(name, part, "all");
    });
    const [firstPart] = value;
    const own = isObject(firstPart) ? readConnector(name, firstPart["connector"]) : undefined;
    return join(own ?? connector, fold(parts));
  }

  /** One condition: `{operator, value, connector}`, or its value alone. */
  #condition(name: string, input: unknown, connector: "all" | "any"): Joined | undefined {
    this.#seen += 1;
    if (this.#seen > filterLimits.filterConditions) {
      throw rejection("filters", `a filter may have ${filterLimits.filterConditions} conditions`);
    }
    const parts: Record<string, unknown> = isObject(input) ? input : { value: input };
    // A misspelt member would change the meaning of the condition, so it is refused in lenient mode too.
    const stranger = Object.keys(parts).find((member) => !this.#members.has(member));
    if (stranger !== undefined) {
      const known = conditionMembers.join(", ");
      throw rejection(name, `filter field ${quote(name)} has the unknown member ${quote(stranger)}: use ${known}`);
    }
    const own = readConnector(name, parts["connector"]) ?? connector;
    const field = this.#catalogue.find(name);
    if (field === undefined) return this.#unknown(name, `unknown filter field ${quote(name)}`);
    const sent = parts["operator"] ?? "";
    const meaning = typeof sent === "string" ? readOperator(sent) : undefined;
    if (meaning === undefined) {
      return this.#unknown(name, `unknown operator ${quote(sent)} for filter field ${quote(name)}`);
    }
    if (!operatorsOf(field.kind).includes(meaning.operator)) {
      throw rejection(name, `operator ${quote(sent)} does not apply to filter field ${quote(name)}`);
    }
    const condition = this.#typedCondition(name, field, meaning, parts["value"]);
    this.#understood += 1;
    return { connector: own, filter: meaning.negated ? { type: "not", filter: condition } : condition };
  }

  #typedCondition(name: string, field: Field<Row>, meaning: OperatorMeaning, value: unknown): Condition {
    const { operator } = meaning;
    const given = Array.isArray(value) ? (value as unknown[]) : value === undefined ? [] : [value];
    const values =
      operator === "isnull" ? [nullTestValue(name, meaning, given)] : this.#values(name, field, operator, given);
    return { type: "condition", field: field.name, operator: looselyTyped(field, operator), values };
  }

  #values(name: string, field: Field<Row>, operator: Condition["operator"], given: readonly unknown[]): FilterValue[] {
    if (given.length === 0) throw rejection(name, `filter field ${quote(name)} needs a value`);
    if (given.length > filterLimits.filterValues) {
      throw rejection(name, `filter field ${quote(name)} may have ${filterLimits.filterValues} values`);
    }
    if (given.length > 1 && ["lt", "lte", "gt", "gte"].includes(operator)) {
      throw rejection(name, `operator ${quote(operator)} of filter field ${quote(name)} takes one value`);
    }
    return given.map((raw) => this.#value(name, field, raw));
  }

  #value(name: string, field: Field<Row>, raw: unknown): FilterValue {
    const value = readValue(field.kind, raw);
    if (value === undefined) {
      const hint = raw === null ? '; absence is tested by "isnull"' : "";
      throw rejection(name, `the value of filter field ${quote(name)} must be ${kindNames[field.kind]}${hint}`);
    }
    const chars = typeof value === "string" ? value.length : 8;
    this.#chars += chars;
    if (chars > filterLimits.filterValueChars) {
      throw rejection(
        name,
        `a value of filter field ${quote(name)} may have ${filterLimits.filterValueChars} characters`,
      );
    }
    if (this.#chars > filterLimits.filterChars) {
      throw rejection(name, `the values of a filter may have ${filterLimits.filterChars} characters together`);
    }
    return typeof value === "string" ? (field.valueAliases.get(value.toLowerCase()) ?? value) : value;
  }

  #unknown(field: string, reason: string): undefined {
    if (this.#mode === "strict") throw rejection(field, reason);
    this.#ignored.push({ field, reason });
  }
}

/** Typed values have no case, so `iexact` is equality for them. */
function looselyTyped<Row>(field: Field<Row>, operator: Condition["operator"]): Condition["operator"] {
  const isTyped = field.kind === "number" || field.kind === "boolean" || field.kind === "time";
  return isTyped && operator === "iexact" ? "equal" : operator;
}

function nullTestValue(name: string, meaning: OperatorMeaning, given: readonly unknown[]): boolean {
  if (meaning.implied === true) return true;
  const value = given.length === 1 ? readBoolean(given[0]) : undefined;
  if (value === undefined) throw rejection(name, `"isnull" of filter field ${quote(name)} takes true or false`);
  return value;
}

function readConnector(name: string, value: unknown): "all" | "any" | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const word = typeof value === "string" ? value.toUpperCase() : "";
  if (word === "AND") return "all";
  if (word === "OR") return "any";
  throw rejection(name, `the connector of ${quote(name)} must be AND or OR`);
}

function join(connector: "all" | "any", filter: Filter | undefined): Joined | undefined {
  return filter === undefined ? undefined : { connector, filter };
}

/** From left to right: each connector joins its condition to everything before it. */
function fold(parts: ReadonlyArray<Joined | undefined>): Filter | undefined {
  let result: Filter | undefined;
  for (const part of parts) {
    if (part === undefined) continue;
    result = result === undefined ? part.filter : joinFilters(part.connector, [result, part.filter]);
  }
  return result;
}

function quote(name: unknown): string {
  const text = typeof name === "string" ? name : (JSON.stringify(name) ?? "");
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

function rejection(field: string, message: string): ServiceError {
  const key = field.length > 100 ? `${field.slice(0, 100)}…` : field;
  return new ServiceError("invalid_request", message, { errors: { [key]: [message] } });
}
