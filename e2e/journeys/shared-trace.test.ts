import { expect } from "vitest";
import type { Page } from "playwright-core";
import { testKeys } from "../../server/test/support/test-app.ts";
import { browserTest, open } from "../support/browse.ts";
import { unique } from "../support/unique.ts";
import { expectNone, whole } from "../support/whole.ts";

const headers = { authorization: `Bearer ${testKeys.prod}` };
const markup =
  '<img src="http://elsewhere.invalid/x.png" onerror="pwned=1"><script>pwned=1</script><svg onload="pwned=1"></svg> [x](javascript:pwned=1) ![p](http://elsewhere.invalid/p.png)';
const hidden = "\u202Egnp.exe \u001B[31mred\u001B[0m \u001B]0;title\u0007 half\uD83D";
const nested = '{"a":'.repeat(4_000) + "1" + "}".repeat(4_000);

function hostileTrace(trace: string): object[] {
  const start = Date.now() - 60_000;
  const span = (id: string, parent: string | null, more: object) => ({
    trace_unique_id: trace,
    span_unique_id: id,
    span_name: id,
    log_type: "task",
    ...(parent !== null && { span_parent_id: parent }),
    start_time: new Date(start).toISOString(),
    timestamp: new Date(start + 1000).toISOString(),
    ...more,
  });
  return [
    span("root", null, { trace_name: markup + hidden, span_name: markup + hidden }),
    span("texts", "root", { input: markup, output: hidden, status_code: 500, error_message: markup + hidden }),
    span("messages", "root", { log_type: "chat", prompt_messages: [{ role: "user", content: markup + hidden }] }),
    span("nested", "root", { input: nested }),
    span("backwards", "root", { timestamp: new Date(start - 1000).toISOString() }),
    span("cycle 1", "cycle 2", {}),
    span("cycle 2", "cycle 1", {}),
    span("orphan", hidden, {}),
    { trace_unique_id: trace, span_unique_id: "timeless", span_name: "timeless", log_type: "task" },
    span("decades", "root", { start_time: "1970-01-01T00:00:00Z" }),
  ];
}

/** The path of its public page. */
async function share(page: Page, trace: string): Promise<string> {
  const sent = await page.request.post("/api/v1/traces/ingest", { headers, data: hostileTrace(trace) });
  expect(await sent.json()).toMatchObject({ error_count: 0 });
  const toShare = () =>
    page.request.patch(`/api/traces/${trace}/`, { headers, data: { is_public: true } }).then((it) => it.status());
  await expect.poll(toShare).toBe(200);
  const answer = await page.request.get(`/api/traces/${trace}/`, { headers });
  const { unique_organization_id: organization } = (await answer.json()) as { unique_organization_id: string };
  return `/share/${organization}/${trace}`;
}

browserTest("hostile content of a shared trace is shown as text and executes nothing", async () => {
  const path = await share(await open("/docs"), unique("hostile"));
  for (const width of [1280, 380]) {
    const page = await open(path, { as: null, width });
    const rows = page.getByRole("treegrid").locator("[role=row][aria-level]");
    await expect.poll(() => rows.count()).toBe(10);
    for (let at = 0; at < 10; at += 1) {
      await rows.nth(at).click();
      const span = page.getByRole("complementary", { name: "Span" });
      await span.getByText("Started").waitFor();
      await whole(page);
      const text = await page.evaluate(() => document.body.textContent);
      expect(["\u202E", "\u001B", "\u0007"].filter((char) => text.includes(char))).toEqual([]);
      expect(text.isWellFormed()).toBe(true);
      await page.keyboard.press("Escape");
      await expectNone(span, rows);
    }
    expect(await page.evaluate(() => "pwned" in globalThis)).toBe(false);
    await expectNone(page.locator("main :is(a, img, script, iframe)"), rows);
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    const durations = rows.locator(".figures:last-child");
    const cut = () =>
      durations.evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).map((e) => e.innerHTML));
    await expect.poll(cut).toEqual([]);
  }
});

browserTest("values nested a thousand deep in a shared trace open immediately", async () => {
  const page = await open(await share(await open("/docs"), unique("nested")), { as: null });
  await page.getByRole("row", { name: "nested" }).click();
  const text = page.getByRole("complementary", { name: "Span" }).locator("pre");
  await expect.poll(() => text.innerText()).toBe(nested);
});
