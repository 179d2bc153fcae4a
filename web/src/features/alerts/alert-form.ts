import { fromFilters } from "../../query-bar/from-filters.ts";
import { parseQuery } from "../../query-bar/parse-query.ts";
import { printQuery } from "../../query-bar/print-query.ts";
import { toFilters } from "../../query-bar/to-filters.ts";
import { scorePrefix } from "./alert-words.ts";
import type { Alert, NewAlert } from "./queries.ts";

/** The alert form's values, as typed. */
export type ChannelForm = { id?: number; type: "webhook" | "slack" | "email"; target: string };
export type AlertForm = {
  name: string;
  /** Undefined if the query language cannot express the filters: they are then left unchanged. */
  query: string | undefined;
  /** A metric, or just `scores__`, with the evaluator in its own field. */
  metric: string;
  evaluator: string;
  window: string;
  comparison: "value" | "change";
  operator: Alert["operator"];
  bound: string;
  groupBy: string;
  minRequests: string;
  cooldown: string;
  channels: readonly ChannelForm[];
};

export const emptyForm: AlertForm = {
  name: "",
  query: "",
  metric: "error_percentage",
  evaluator: "",
  window: "15m",
  comparison: "value",
  operator: "gt",
  bound: "",
  groupBy: "",
  minRequests: "0",
  cooldown: "5m",
  channels: [],
};

export function formOf(alert: Alert): AlertForm {
  const { metric, threshold, change_percentage: change } = alert;
  const query = fromFilters(alert.filters);
  const isScore = metric.startsWith(scorePrefix);
  return {
    name: alert.name,
    query: query && printQuery(query),
    metric: isScore ? scorePrefix : metric,
    evaluator: isScore ? metric.slice(scorePrefix.length) : "",
    window: alert.window,
    comparison: change === null ? "value" : "change",
    operator: alert.operator,
    bound: String(change ?? threshold ?? ""),
    groupBy: alert.group_by ?? "",
    minRequests: String(alert.min_requests),
    cooldown: alert.cooldown,
    channels: alert.channels.map(({ id, type, url, to }) => ({ id, type, target: to ?? url ?? "" })),
  };
}

/** Error messages by API field name; channels by index, as `channels.0`. */
export type Problems = Readonly<Record<string, string>>;

export function readForm(form: AlertForm): { body: NewAlert; problems: Problems } {
  const problems: Record<string, string> = {};
  const bound = Number(form.bound);
  if (form.name.trim() === "") problems["name"] = "An alert needs a name.";
  if (form.bound.trim() === "" || !Number.isFinite(bound)) problems["threshold"] = "A number to compare with.";
  for (const name of ["window", "cooldown"] as const) {
    if (!/^\d{1,6}[mhd]$/.test(form[name].trim())) problems[name] = "In minutes, hours or days, as in 30m, 12h or 1d.";
  }
  const minRequests = Number(form.minRequests.trim());
  if (!Number.isInteger(minRequests) || minRequests < 0) problems["min_requests"] = "A whole number, 0 or more.";
  if (form.metric === scorePrefix && form.evaluator.trim() === "") problems["metric"] = "Name the evaluator.";
  const parsed = form.query === undefined ? undefined : parseQuery(form.query);
  if (parsed?.problems[0] !== undefined) problems["filters"] = parsed.problems[0].message;
  for (const [place, { target }] of form.channels.entries()) {
    if (target.trim() === "") problems[`channels.${place}`] = "Where to?";
  }
  const isChange = form.comparison === "change";
  const body: NewAlert = {
    name: form.name.trim(),
    ...(parsed && { filters: toFilters(parsed.query) }),
    metric: form.metric === scorePrefix ? `${scorePrefix}${form.evaluator.trim()}` : form.metric,
    window: form.window.trim(),
    operator: form.operator,
    threshold: isChange ? null : bound,
    change_percentage: isChange ? bound : null,
    group_by: form.groupBy.trim() === "" ? null : form.groupBy.trim(),
    min_requests: minRequests,
    cooldown: form.cooldown.trim(),
    channels: form.channels.map(({ id, type, target }) => ({
      ...(id !== undefined && { id }),
      type,
      ...(type === "email" ? { to: target.trim() } : { url: target.trim() }),
    })),
  };
  return { body, problems };
}

/** The changed fields. A form that was not edited changes nothing, so that no group is reset. */
export function changeOf(before: AlertForm, after: AlertForm): Partial<NewAlert> {
  const old: Readonly<Record<string, unknown>> = readForm(before).body;
  const changed = Object.entries(readForm(after).body).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name]),
  );
  return Object.fromEntries(changed);
}
