import { familyOf } from "../../query-bar/fields.ts";

/** How a column's value is displayed. */
export type CellKind =
  | "time"
  | "status"
  | "name"
  | "text"
  | "id"
  | "cost"
  | "tokens"
  | "duration"
  | "number"
  | "flag"
  | "feedback"
  | "payload"
  | "metadata"
  | "score";

export type Column = {
  id: string;
  title: string;
  kind: CellKind;
  /** The members of a row that the column displays. */
  members: readonly string[];
  width: number;
  /** The field that the list is sorted by. */
  sort?: string;
  /** A metadata key, or the slug of an evaluator. */
  key?: string;
};

type Extras = Partial<Pick<Column, "members" | "sort">>;

function column(id: string, title: string, kind: CellKind, width: number, extras: Extras = {}): Column {
  return { id, title, kind, width, members: [id], ...extras };
}

export const knownColumns: readonly Column[] = [
  column("timestamp", "Time", "time", 128, { sort: "timestamp" }),
  column("status", "Status", "status", 68, {
    members: ["status", "status_code", "failed", "error_message"],
    sort: "status_code",
  }),
  column("span_name", "Name", "name", 144, { members: ["span_name", "log_type", "is_pinned", "note"] }),
  column("model", "Model", "text", 120, { sort: "model" }),
  column("customer_identifier", "Customer", "text", 112, { sort: "customer_identifier" }),
  column("total_tokens", "Tokens", "tokens", 64, {
    members: ["total_tokens", "prompt_tokens", "completion_tokens"],
    sort: "total_tokens",
  }),
  column("cost", "Cost", "cost", 100, { members: ["cost", "unpriced"], sort: "cost" }),
  column("latency", "Latency", "duration", 92, { sort: "latency" }),
  column("time_to_first_token", "First token", "duration", 88, { sort: "time_to_first_token" }),
  column("input", "Input", "payload", 280),
  column("output", "Output", "payload", 280),
  column("error_message", "Error", "text", 240),
  column("log_type", "Type", "text", 88),
  column("provider_id", "Provider", "text", 104),
  column("prompt_tokens", "Input tokens", "tokens", 96, { sort: "prompt_tokens" }),
  column("completion_tokens", "Output tokens", "tokens", 104, { sort: "completion_tokens" }),
  column("prompt_cache_hit_tokens", "Cached tokens", "tokens", 104),
  column("reasoning_tokens", "Reasoning tokens", "tokens", 116),
  column("tokens_per_second", "Tokens/s", "number", 80, { sort: "tokens_per_second" }),
  column("positive_feedback", "Feedback", "feedback", 80, { sort: "positive_feedback" }),
  column("note", "Note", "text", 200, { sort: "note" }),
  column("stream", "Streamed", "flag", 76),
  column("cache_hit", "From cache", "flag", 84),
  column("start_time", "Started", "time", 132, { sort: "start_time" }),
  column("customer_name", "Customer name", "text", 136),
  column("customer_email", "Customer e-mail", "text", 160),
  column("thread_identifier", "Thread", "id", 152),
  column("session_identifier", "Session", "id", 152),
  column("trace_unique_id", "Trace", "id", 152),
  column("unique_id", "Id", "id", 152),
  column("span_workflow_name", "Workflow", "text", 136),
  column("custom_identifier", "Custom id", "text", 136),
  column("prompt_name", "Prompt", "text", 136),
  column("deployment_name", "Deployment", "text", 120),
  column("organization_key_name", "API key", "text", 120),
  column("log_method", "Came by", "text", 100),
  column("temperature", "Temperature", "number", 92),
  column("environment", "Environment", "text", 96),
];

const byId = new Map(knownColumns.map((each) => [each.id, each]));

const usualIds = "timestamp,status,span_name,model,customer_identifier,total_tokens,cost,latency";

/** The column with an id: a built-in one, `metadata.<key>` or `score.<slug>`. */
export function findColumn(id: string): Column | undefined {
  const known = byId.get(id);
  if (known !== undefined) return known;
  const { family, key = "" } = familyOf(id) ?? {};
  if (family === undefined || key === "") return undefined;
  const name = `${family}__${key}`;
  const kind = family === "metadata" ? "metadata" : "score";
  return { id, title: key, kind, members: [family], width: kind === "score" ? 96 : 128, sort: name, key };
}

const columnsMax = 200;

/** Parses the columns of the URL, separated by commas; a comma in a key is written `%2C`. */
export function readColumns(text: string | undefined): Column[] {
  const ids = [...new Set((text ?? usualIds).split(",").map(decoded))];
  const columns = ids.flatMap((id) => findColumn(id) ?? []).slice(0, columnsMax);
  return columns.length === 0 && text !== undefined ? readColumns(undefined) : columns;
}

/** The columns as text for the URL; undefined for the default ones. */
export function writeColumns(columns: readonly Column[]): string | undefined {
  const text = columns.map(({ id }) => id.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",");
  return text === usualIds || text === "" ? undefined : text;
}

function decoded(id: string): string {
  return id.trim().replaceAll("%2C", ",").replaceAll("%25", "%");
}

/** The sort order in the URL, if a column has it. */
export function readSort(text: string | undefined): string | undefined {
  const field = text?.replace(/^-/, "");
  const isKnown = knownColumns.some(({ sort }) => sort === field) || findColumn(field ?? "")?.sort === field;
  return isKnown ? text : undefined;
}

/** Moves a column to the position of another. */
export function moveColumn(columns: readonly Column[], id: string, toId: string): Column[] {
  const from = columns.findIndex((each) => each.id === id);
  const to = columns.findIndex((each) => each.id === toId);
  const moved = columns[from];
  if (moved === undefined || to === -1) return [...columns];
  const rest = columns.filter((each) => each !== moved);
  return [...rest.slice(0, to), moved, ...rest.slice(to)];
}

/** The members to request: those of the columns, and those that every row needs. */
export function membersOf(columns: readonly Column[]): string {
  const always = ["status", "failed", "is_pinned", "note", "positive_feedback", "trace_unique_id"];
  return [...new Set([...always, ...columns.flatMap(({ members }) => members)])].sort().join(",");
}

const growing: ReadonlySet<CellKind> = new Set(["name", "text", "id", "payload", "metadata"]);
const growthMax = 240;
const textWidthMin = 64;

type Widths = Readonly<Record<string, number>>;

/** Without room for minutes, which names need more. */
const durationWidthMin = 76;

/** The width of a column as chosen, or usually, and the least that it shrinks to so that all columns fit. */
function widthsOf({ id, kind, width }: Column, chosen: Widths): { usual: number; least: number } {
  const usual = clampWidth(chosen[id] ?? width);
  if (chosen[id] !== undefined) return { usual, least: usual };
  const least = growing.has(kind) ? textWidthMin : kind === "duration" ? durationWidthMin : usual;
  return { usual, least: Math.min(usual, least) };
}

/** The columns to show in `available` px: of those shown by default, the customer is left out if all others fit then. */
export function fittingColumns(columns: readonly Column[], chosen: Widths, available: number): readonly Column[] {
  const sum = (some: readonly Column[], of: "usual" | "least"): number =>
    some.reduce((total, column) => total + widthsOf(column, chosen)[of], 0);
  if (writeColumns(columns) !== undefined || sum(columns, "usual") <= available) return columns;
  const others = columns.filter(({ id }) => id !== "customer_identifier");
  return sum(others, "least") <= available ? others : columns;
}

/**
 * The left edge of each column, and the total width. Columns of text without a chosen width share what is free of
 * `available`, and shrink if all columns fit then.
 */
export function placeColumns(
  columns: readonly Column[],
  chosen: Widths,
  available = 0,
): { lefts: number[]; widths: number[]; total: number } {
  const isGrowing = ({ id, kind }: Column): boolean => chosen[id] === undefined && growing.has(kind);
  const all = columns.map((column) => widthsOf(column, chosen));
  const free = available - all.reduce((sum, { usual }) => sum + usual, 0);
  const growth = Math.min(growthMax, Math.floor(Math.max(0, free) / Math.max(1, columns.filter(isGrowing).length)));
  const slack = all.reduce((sum, { usual, least }) => sum + usual - least, 0);
  const shrunk = free < 0 && -free <= slack ? -free / slack : 0;
  const each = columns.map((column, at) => {
    const { usual, least } = all[at] ?? widthsOf(column, chosen);
    return Math.floor(usual - (usual - least) * shrunk) + (isGrowing(column) ? growth : 0);
  });
  let total = 0;
  const lefts = each.map((width) => {
    const left = total;
    total += width;
    return left;
  });
  return { lefts, widths: each, total };
}

/**
 * The chosen widths after a column got another one. The columns before it keep theirs, so that its edge follows the
 * pointer. Without a width it gets its usual one again.
 */
export function chooseWidth(
  columns: readonly Column[],
  placed: readonly number[],
  chosen: Readonly<Record<string, number>>,
  id: string,
  width: number | undefined,
): Record<string, number> {
  const { [id]: _before, ...others } = chosen;
  if (width === undefined) return others;
  const at = columns.findIndex((column) => column.id === id);
  const kept = columns.slice(0, at).map((column, index) => [column.id, placed[index] ?? column.width] as const);
  return { ...others, ...Object.fromEntries(kept), [id]: width };
}

export function clampWidth(width: number): number {
  return Math.round(Math.min(800, Math.max(48, width)));
}

/** The range of columns visible in a section of the table: the first index, and the index after the last. */
export function columnsWithin(
  { lefts, widths }: { lefts: readonly number[]; widths: readonly number[] },
  left: number,
  width: number,
): { first: number; end: number } {
  const first = lefts.findIndex((each, at) => each + (widths[at] ?? 0) > left);
  const behind = lefts.findIndex((each) => each >= left + width);
  return { first: Math.max(0, first), end: behind === -1 ? lefts.length : behind };
}
