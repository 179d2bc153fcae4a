import type { Page } from "playwright-core";
import { expect } from "vitest";
import { testKeys } from "../../server/test/support/test-app.ts";
import { browserTest, open } from "../support/browse.ts";
import { unique } from "../support/unique.ts";
import { whole } from "../support/whole.ts";

/** Texts and tooltips with invisible characters that change the direction of the text beside them. Editable fields are left out. */
function unseenIn(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    // oxlint-disable-next-line no-control-regex
    const unseen = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/;
    const all = [...document.querySelectorAll("body *:not(textarea), title")];
    const texts = all.flatMap(({ childNodes }) =>
      [...childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE).map(({ nodeValue }) => nodeValue),
    );
    const tooltips = all.flatMap((element) => [element.getAttribute("title"), element.getAttribute("aria-label")]);
    return [...texts, ...tooltips].filter((text) => text !== null && unseen.test(text)).map((text) => String(text));
  });
}

browserTest("bidirectional control characters are shown as symbols on each screen", async () => {
  const page = await open("/logs", { expected: /404/ });
  const headers = { authorization: `Bearer ${testKeys.prod}` };
  const plain = unique("odd");
  const odd = `${plain}\u202Egnp.exe\u0007`;
  const names = { span_name: odd, model: odd, provider_id: odd, customer_identifier: odd, thread_identifier: odd };
  const trace = { trace_unique_id: odd, trace_name: odd, span_unique_id: plain };
  const failure = { log_type: "chat", status_code: 500, error_message: odd, cost: 1, note: odd };
  const data = { ...names, ...trace, ...failure, metadata: { [odd]: odd }, input: odd, output: odd };
  const sent = await page.request.post("/api/request-logs/", { headers, data });
  expect(sent.status()).toBe(201);
  const { unique_id: id } = (await sent.json()) as { unique_id: string };
  const customer = `/customers/${encodeURIComponent(odd)}`;
  const named = { name: odd, group_identifier: odd, period_budget: 1, budget_duration: "daily" };
  const changed = await page.request.patch(`/api/users/${encodeURIComponent(odd)}/`, { headers, data: named });
  expect(changed.status()).toBe(200);
  const only = `range=1h&q=${encodeURIComponent(`span:${plain}`)}`;
  for (const path of [
    `/?${only}`,
    ...["customer", "model", `metadata.${odd}`].map(
      (by) => `/?${only}&chart=cost&view=table&by=${encodeURIComponent(by)}`,
    ),
    `/logs?${only}&cols=customer_identifier,thread_identifier,error_message,${encodeURIComponent(`metadata.${odd}`)}`,
    ...["conversation", "json", "request", "cost", "details"].map((tab) => `/spans/${id}?tab=${tab}`),
    `/compare?spans=${id}`,
    "/traces?range=1h",
    `/traces/${encodeURIComponent(odd)}`,
    `/threads?range=1h&thread=${encodeURIComponent(odd)}`,
    `/customers?range=1h&find=${plain}`,
    customer,
    "/settings?tab=audit",
  ]) {
    await page.goto(path);
    const shown = page.locator("main, [role=main]").getByText("⟨U+202E⟩");
    await shown.first().waitFor({ state: "attached" });
    await whole(page);
    expect(await unseenIn(page), path).toEqual([]);
  }
});
