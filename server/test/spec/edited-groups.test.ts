import { afterAll, beforeAll, expect, test } from "vitest";
import { evaluated, minuteMs, newAlert, newestEndMs, startAlertApp, type AlertApp } from "../support/alerts.ts";
import { bodyOf, createSpan, settle } from "../support/spans.ts";
import type { Row } from "../support/test-client.ts";

/** Section F of the additions: groups and sums by changeable fields use the changed values. */

let app: AlertApp;
beforeAll(async () => {
  app = await startAlertApp();
});
afterAll(() => app.stop());

test("groups, series, facets and sums by metadata show changed values, and follow the next change", async () => {
  const { prod } = await app.newOrganization();
  const ids: unknown[] = [];
  for (const plan of ["pro", "pro", "pro", undefined]) {
    const span = { input: "hi", total_cost: 1, metadata: plan === undefined ? {} : { plan } };
    ids.push((await createSpan(prod, { ...span, timestamp: "2026-01-01T00:00:01Z" }))["unique_id"]);
  }
  await settle(prod);
  const window = "start_time=2026-01-01T00:00:00Z&end_time=2026-01-01T01:00:00Z";
  const post = async (path: string, filters: Row = {}) =>
    bodyOf(await prod.post(`/api/request-logs/${path}${window}`, { filters }));
  const counted = (rows: unknown, nameOf: (row: Row) => unknown, countOf: (row: Row) => unknown) =>
    Object.fromEntries((rows as Row[]).map((row) => [String(nameOf(row)), countOf(row)]));
  const shown = async () => {
    const groups = await post("groups/?group_by=metadata__plan&");
    const series = await post("timeseries/?interval=1h&group_by=metadata__plan&metrics=number_of_requests&");
    const facets = await post("facets/?fields=metadata__plan&");
    const summary = await post("summary/?", { metadata__plan: { operator: "", value: ["free"] } });
    const plans = (facets["facets"] as Record<string, Row[]>)["metadata__plan"];
    return {
      groups: counted(
        groups["results"],
        (row) => row["metadata__plan"],
        (row) => row["number_of_requests"],
      ),
      series: counted(
        series["series"],
        (row) => (row["group"] as Row)["metadata__plan"],
        (row) => (row["totals"] as Row)["number_of_requests"],
      ),
      facets: counted(
        plans,
        (row) => row["value"],
        (row) => row["count"],
      ),
      free: summary["number_of_requests"],
    };
  };
  const change = async (id: unknown, metadata: Row) =>
    bodyOf(await prod.request("PATCH", `/api/request-logs/${String(id)}/`, { metadata }));

  expect(await shown()).toEqual({
    groups: { pro: 3, "": 1 },
    series: { pro: 3, "": 1 },
    facets: { pro: 3 },
    free: 0,
  });
  await change(ids[0], { plan: "free" });
  await change(ids[1], { plan: null });
  await change(ids[3], { plan: "free" });
  const expected = { free: 2, pro: 1, "": 1 };
  expect(await shown()).toEqual({ groups: expected, series: expected, facets: { free: 2, pro: 1 }, free: 2 });
  await change(ids[0], { plan: "pro" });
  const after = { pro: 2, free: 1, "": 1 };
  expect(await shown()).toEqual({ groups: after, series: after, facets: { pro: 2, free: 1 }, free: 1 });
});

test("alerts read changed values in filters and groups, whichever rules are evaluated together", async () => {
  const { prod } = await app.newOrganization();
  const timestamp = new Date(newestEndMs(app.now()) - minuteMs / 2).toISOString();
  const ids: unknown[] = [];
  for (let n = 0; n < 3; n += 1) {
    ids.push((await createSpan(prod, { timestamp, log_type: "chat", metadata: { plan: "pro" } }))["unique_id"]);
  }
  await settle(prod);
  const rules = {
    all: await newAlert(prod, {}),
    disliked: await newAlert(prod, { filters: { positive_feedback: { value: [false] } } }),
    free: await newAlert(prod, { filters: { metadata__plan: { value: ["free"] } } }),
    byPlan: await newAlert(prod, { group_by: "metadata__plan" }),
  };
  const minute = async (after: string) => {
    const found = await Promise.all(Object.values(rules).map(({ id }) => evaluated(prod, id, after)));
    const values = found.map(({ states }) =>
      states.map(({ group, value }) => [...Object.values(group), value].join(" ")).sort(),
    );
    return {
      values,
      until:
        found
          .map(({ evaluated_until }) => evaluated_until ?? "")
          .sort()
          .at(-1) ?? "",
    };
  };
  const before = await minute("");
  expect(before.values).toEqual([["3"], ["0"], ["0"], ["pro 3"]]);
  for (const id of ids.slice(0, 2)) {
    const changes = { positive_feedback: false, metadata: { plan: "free" } };
    await prod.request("PATCH", `/api/request-logs/${String(id)}/`, changes);
  }
  app.pass(minuteMs);
  const after = await minute(before.until);
  expect(after.values).toEqual([["3"], ["2"], ["2"], ["free 2", "pro 1"]]);
});
