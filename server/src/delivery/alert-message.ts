import type { AlertEvent } from "../domain/alert-event.ts";
import type { AlertOperator } from "../domain/alert.ts";

/**
 * An alert as text for people. Values from spans are written on one line, without control characters. The link opens the alert's page, which
 * lists the alert's groups and their spans. `link` is null if SPANWAY_PUBLIC_URL is not set.
 */
type AlertMessage = { title: string; lines: string[]; link: string | null };

const titleChars = 200;

function alertMessage(event: AlertEvent): AlertMessage {
  const group = groupText(event.group);
  const title = `${event.is_test ? "Test" : headline[event.type]}: ${event.alert.name}${group && ` (${group})`}`;
  const before = event.change_percentage === null ? "" : ` (before: ${numberText(event.previous_value)})`;
  const lines = [
    event.is_test ? "This is a test. Nothing has happened." : `State: ${event.state}, since ${event.since}.`,
    `${event.metric} over ${event.window}: ${numberText(event.value)}${before}. Triggers if it ${condition(event)}.`,
    `Spans in the window: ${event.number_of_requests}, ${event.window_start} to ${event.window_end}, ${event.environment}.`,
  ];
  return { title: oneLine(title).slice(0, titleChars), lines: lines.map(oneLine), link: event.alert.url };
}

/** The body for Slack's incoming webhooks, and for compatible ones of other products. */
export function slackBody(event: AlertEvent): string {
  const { title, lines, link } = alertMessage(event);
  const text = [
    `*${escaped(title)}*`,
    ...lines.map(escaped),
    ...(link === null ? [] : [`<${escaped(link)}|Open the alert>`]),
  ];
  return JSON.stringify({ text: text.join("\n") });
}

export function mailText(event: AlertEvent): { subject: string; text: string } {
  const { title, lines, link } = alertMessage(event);
  return { subject: title, text: [...lines, ...(link === null ? [] : [`Alert: ${link}`])].join("\n\n") };
}

const headline = { alert_triggered: "Triggered", alert_resolved: "Resolved" } as const;

const words: Readonly<Record<AlertOperator, string>> = {
  gt: "is above",
  gte: "is at least",
  lt: "is below",
  lte: "is at most",
};

function condition({ operator, threshold, change_percentage: change }: AlertEvent): string {
  if (change === null) return `${words[operator]} ${threshold}`;
  return `changes by a percentage that ${words[operator]} ${change}`;
}

function groupText(group: AlertEvent["group"]): string {
  return Object.entries(group)
    .map(([name, value]) => `${name}: ${value === "" || value === null ? "none" : value}`)
    .join(", ");
}

function numberText(value: number | null): string {
  return value === null ? "unknown" : String(Number(value.toPrecision(6)));
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").toWellFormed();
}

/** In Slack's text, these characters begin links, mentions and entities. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
