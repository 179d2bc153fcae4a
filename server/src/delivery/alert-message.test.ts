import { expect, test } from "vitest";
import type { AlertEvent } from "../domain/alert-event.ts";
import { mailText, slackBody } from "./alert-message.ts";

const path = "/api/request-logs/list/?environment=prod";

function eventOf(spans_url: string | null): AlertEvent {
  return {
    type: "alert_triggered",
    alert: { id: "a", name: "Cost" },
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
    spans_url,
    is_test: false,
  };
}

test("a text has a link where people can follow it, and none without a host", () => {
  const linked = eventOf(`https://spanway.example.com${path}`);
  expect(mailText(linked).text).toContain(`Spans: https://spanway.example.com${path}`);
  expect(slackBody(linked)).toContain(`<https://spanway.example.com${path}|Spans>`);
  for (const event of [eventOf(path), eventOf(null)]) {
    expect(mailText(event).text).not.toContain("Spans: /");
    expect(mailText(event).text).not.toContain("null");
    expect(slackBody(event)).not.toContain(path);
  }
});
