import { expect, test } from "vitest";
import type { AlertEvent } from "../domain/alert-event.ts";
import { mailText, slackBody } from "./alert-message.ts";

function eventOf(url: string | null): AlertEvent {
  return {
    type: "alert_triggered",
    alert: { id: "a", name: "Cost", url },
    unique_organization_id: "org_a",
    environment: "prod",
    metric: "total_cost",
    window: "1h",
    operator: "gt",
    threshold: 1,
    change_percentage: null,
    state: "triggered",
    previous_state: "ok",
    group: {},
    since: "2026-11-29T10:00:00.000Z",
    value: 2,
    previous_value: null,
    number_of_requests: 3,
    window_start: "2026-11-29T09:00:00.000Z",
    window_end: "2026-11-29T10:00:00.000Z",
    spans_url: "/api/request-logs/list/?environment=prod",
    is_test: false,
  };
}

test("a message links to the page of its alert, and has no link without a host", () => {
  const url = "https://spanway.example.com/alerts/a";
  expect(mailText(eventOf(url)).text).toContain(`Alert: ${url}`);
  expect(slackBody(eventOf(url))).toContain(`<${url}|Open the alert>`);
  for (const text of [mailText(eventOf(null)).text, slackBody(eventOf(null))]) expect(text).not.toMatch(/\/|null/);
});
