import { afterAll, beforeAll, expect, test } from "vitest";
import { bodyOf } from "../support/spans.ts";
import { startTestApp, type TestApp } from "../support/test-app.ts";

/**
 * A URL to which calls are refused is still stored, because the configuration may change to allow it. Responses state
 * the reason.
 */

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "allowed.internal" });
});
afterAll(() => app.stop());

const alert = { name: "Errors", metric: "error_count", window: "5m", operator: "gt", threshold: 1 };

/** How each kind is created with a URL, and the member of its response with the reason. */
const kinds = [
  {
    path: "/api/providers/",
    bodyWith: (url: string) => ({ provider: "my-lab", name: url, base_url: url, api_key: "sk-0123456789" }),
    reportedIn: (row: Row) => row,
  },
  {
    path: "/api/webhooks/",
    bodyWith: (url: string) => ({ name: "Hook", url, event_type: "request_log" }),
    reportedIn: (row: Row) => row,
  },
  {
    path: "/api/alerts/",
    bodyWith: (url: string) => ({ ...alert, channels: [{ type: "webhook", url }] }),
    reportedIn: (row: Row) => (row["channels"] as Row[])[0] ?? {},
  },
];
type Row = Record<string, unknown>;

test.each(kinds)("$path reports it when one is created and when it is read", async ({ path, bodyWith, reportedIn }) => {
  const { prod } = await app.newOrganization();
  const refused = await prod.post(path, bodyWith("http://192.168.0.7:8080"));
  expect(refused.status).toBe(201);
  const reason = "192.168.0.7 is not a public address; SPANWAY_ALLOW_PRIVATE_UPSTREAMS can allow a private one";
  expect(reportedIn(bodyOf(refused))).toMatchObject({ refused_reason: reason });
  const read = await prod.get(`${path}${String(bodyOf(refused)["id"])}/`);
  expect(reportedIn(bodyOf(read))).toMatchObject({ refused_reason: reason });
  const list = (await prod.get(path)).json as Row[] | { results: Row[] };
  expect((Array.isArray(list) ? list : list.results).map(reportedIn)).toMatchObject([{ refused_reason: reason }]);
  for (const url of ["https://llm.example.com/v1", "http://allowed.internal/"]) {
    const made = await prod.post(path, bodyWith(url));
    expect(made.status).toBe(201);
    expect(reportedIn(bodyOf(made))).not.toHaveProperty("refused_reason");
  }
});
