import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { largeTrace, type TraceSpan } from "../../scripts/demo/large-trace.ts";
import { testKeys } from "../../server/test/support/test-app.ts";
import { seriousFindings } from "../support/axe.ts";
import { browserTest, open } from "../support/browse.ts";
import { unique } from "../support/unique.ts";
import { expectNone, whole } from "../support/whole.ts";

const headers = { authorization: `Bearer ${testKeys.prod}` };

async function send(page: Page, spans: readonly TraceSpan[]): Promise<void> {
  const answer = await page.request.post("/api/v1/traces/ingest", { headers, data: spans });
  expect(answer.status()).toBe(200);
}

function span(trace: string, id: string, from: number, to: number, rest: Partial<TraceSpan> = {}): TraceSpan {
  const time = (ms: number) => new Date(ms).toISOString();
  return {
    trace_unique_id: trace,
    span_unique_id: id,
    span_name: id,
    log_type: "tool",
    start_time: time(from),
    timestamp: time(to),
    ...rest,
  };
}

const pathOf = (trace: string) => `traces/${encodeURIComponent(trace)}`;

/** Resolves once all spans of a trace are stored. */
async function isStored(page: Page, trace: string, count: number): Promise<void> {
  const stored = async () => {
    const answer = await page.request.get(`/api/${pathOf(trace)}/?tree=slim`, { headers });
    return ((await answer.json()) as { span_count?: number }).span_count;
  };
  await expect.poll(stored).toBe(count);
}

/** Opens a trace once all of its spans are stored. */
async function openTrace(page: Page, trace: string, count: number): Promise<void> {
  await isStored(page, trace, count);
  await page.goto(`/${pathOf(trace)}`);
  await page.getByRole("treegrid").waitFor();
}

const call = (model: string, cost: number) => ({ log_type: "chat", model, cost });

const rowsIn = (page: Page) => page.locator("[role=treegrid] [role=row][aria-level]");
const rowCount = (page: Page) => page.getByRole("treegrid").getAttribute("aria-rowcount");

browserTest("three steps lead from the list to the messages of the failed span", async () => {
  const page = await open("/traces?range=30d&sort=-error_count");
  await page
    .getByRole("row", { name: /airline-agent/ })
    .first()
    .click();
  await page.getByRole("treegrid").waitFor();
  await page.getByRole("button", { name: /errors/ }).click();
  await page.keyboard.press("Enter");
  await page.getByRole("treegrid").press("Enter");
  await page.getByRole("complementary", { name: "Span" }).getByRole("tab", { name: "Conversation" }).waitFor();
  const { searchParams } = new URL(page.url());
  expect(searchParams.get("span")).not.toBeNull();
  await page.keyboard.press("Escape");
  await expect.poll(() => new URL(page.url()).searchParams.get("span")).toBeNull();
  await page.goBack();
  await page.waitForURL(/\/traces\?/);
});

browserTest("the slowest call or tool opens first, and its name can be read beside it", async () => {
  const page = await open("/traces", { width: 1280, height: 800 });
  const now = Date.now() - 60_000;
  const trace = unique("slow");
  const slow = "lookup_frequent_flyer_balance_v2";
  await send(page, [
    span(trace, "root", now, now + 9000, { log_type: "workflow" }),
    span(trace, "agent", now + 10, now + 4000, { log_type: "agent", span_parent_id: "root" }),
    span(trace, "quick", now + 20, now + 500, { span_parent_id: "agent" }),
    span(trace, slow, now + 500, now + 1500, { span_parent_id: "agent" }),
  ]);
  await openTrace(page, trace, 4);
  await page.getByRole("button", { name: "Slowest" }).click();
  await page.getByRole("complementary", { name: "Span" }).getByRole("heading", { name: slow }).waitFor();
  const label = rowsIn(page).getByText(slow, { exact: true });
  await expect.poll(() => label.evaluate(({ parentElement: at }) => at && at.scrollWidth - at.clientWidth)).toBe(0);
});

browserTest("a time has the same position in the map of a trace and above its bars", async () => {
  const page = await open("/traces?range=30d&sort=-span_count");
  await page.locator("[role=grid] [role=row]:has([role=gridcell])").first().click();
  await page.waitForURL(/\/traces\/./);
  const [map, axis] = [
    page.getByRole("img", { name: /whole trace/ }),
    page.getByRole("columnheader", { name: "Time since the start of the trace" }),
  ];
  await axis.getByText(/\d/).first().waitFor();
  await whole(page);
  const edges = (place: Locator): Promise<number[]> =>
    place.evaluate((element) => {
      const { left, right } = element.getBoundingClientRect();
      return [Math.round(left), Math.round(right)];
    });
  await expect.poll(async () => [await edges(map), await edges(axis)]).toSatisfy(([a, b]) => String(a) === String(b));
});

browserTest(
  "odd spans and hostile names are shown once and as text, and the URL keeps collapsed and hidden rows",
  async () => {
    const page = await open("/traces");
    const trace = unique("odd/trace");
    await send(page, largeTrace({ trace, spans: 400, levels: 200, endMs: Date.now() - 3_600_000 }));
    await openTrace(page, trace, 400);
    await expect.poll(() => rowCount(page)).toBe("401");
    await expectNone(page.locator("[role=treegrid] img, [role=treegrid] script"), rowsIn(page));
    await page.goto(`/traces/${encodeURIComponent(trace)}?hide=task&hide=agent&hide=chat`);
    await page.getByText("<img src=x onerror=alert(1)>").waitFor();
    await page.getByText("⟨U+202E⟩").first().waitFor();
    await whole(page);
    const shown = await rowCount(page);
    expect(shown).not.toBe("401");
    await page.reload();
    await expect.poll(() => rowCount(page)).toBe(shown);
    for (const tab of ["", "?tab=flame"]) {
      await page.goto(`/traces/${encodeURIComponent(trace)}${tab}`);
      await page.getByRole("tab", { name: "Flame graph" }).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
    }
  },
);

browserTest("the list shows the most expensive model and the user's question", async () => {
  const [trace, from] = [unique("models"), Date.now() - 60_000];
  const page = await open(`/traces?q=customer:${trace}`);
  await send(page, [
    span(trace, "root", from, from + 900, {
      log_type: "agent",
      customer_identifier: trace,
      input: JSON.stringify([
        { role: "system", content: "Be brief." },
        { role: "user", content: `Where is ${trace}?` },
      ]),
    }),
    span(trace, "embed", from, from + 100, { span_parent_id: "root", ...call("text-embedding-3-small", 0.00001) }),
    span(trace, "answer", from + 100, from + 800, { span_parent_id: "root", ...call("gpt-4o", 0.25) }),
  ]);
  await isStored(page, trace, 3);
  await page.getByRole("button", { name: "Reload" }).click();
  const row = page.getByRole("row", { name: `Where is ${trace}?` });
  await row.getByText("gpt-4o").waitFor();
  await row.getByText("+1").waitFor();
  await row.getByText(`Where is ${trace}?`, { exact: true }).waitFor();
  await expectNone(row.getByText("text-embedding"), row);
});

browserTest("lines of the time axis are behind the bars", async () => {
  const page = await open("/traces");
  const [trace, from] = [unique("lines"), Date.now() - 60_000];
  await send(page, [span(trace, "alone", from, from + 10_000)]);
  await openTrace(page, trace, 1);
  await whole(page);
  const [line, bar] = [page.locator(".trace-axis > .bg-line").nth(1), rowsIn(page).locator(".trace-bars > div").last()];
  const { x = 0 } = (await line.boundingBox()) ?? {};
  const { y = 0, width = 0 } = (await bar.boundingBox()) ?? {};
  expect(width).toBeGreaterThan(200);
  const pixel = (left: number) => page.screenshot({ clip: { x: left, y: y + 4, width: 1, height: 1 } });
  expect(await pixel(Math.floor(x))).toEqual(await pixel(Math.floor(x) + 8));
});

browserTest("a growing trace keeps its scroll position", async () => {
  const page = await open("/traces");
  const now = Date.now() - 10_000;
  const trace = unique("grows");
  const steps = (name: string, count: number, from: number) =>
    Array.from({ length: count }, (_, n) =>
      span(trace, `${name}${n}`, from + n, from + n + 5, { span_parent_id: "root" }),
    );
  await send(page, [span(trace, "root", now, now + 1000), ...steps("late", 100, now + 500)]);
  await openTrace(page, trace, 101);
  await page.getByRole("treegrid").evaluate((grid) => grid.scrollTo(0, 1400));
  await page.getByText("late60", { exact: true }).waitFor();
  const before = await page.getByText("late60", { exact: true }).boundingBox();
  await send(page, steps("early", 30, now + 100));
  await expect.poll(() => rowCount(page)).toBe("132");
  await expect.poll(() => page.getByText("late60", { exact: true }).boundingBox()).toEqual(before);
});

browserTest("a public link shows the trace until it is removed; a trace is deleted by typing its id", async () => {
  const page = await open("/traces");
  const now = Date.now() - 3_600_000;
  const trace = unique("shared-trace");
  const recorded = {
    input: "What is 6 × 7?",
    customer_identifier: "secret-customer",
    metadata: { plan: "secret-plan" },
  };
  await send(page, [span(trace, "only", now, now + 10, recorded)]);
  await openTrace(page, trace, 1);
  await page.getByRole("button", { name: "Share" }).click();
  await expectNone(page.getByRole("button", { name: "Stop sharing" }), page.getByText("The trace is not shared"));
  await page.getByRole("button", { name: "Create the link" }).click();
  const shown = page.getByRole("textbox", { name: "Public link" });
  await expect.poll(() => shown.inputValue()).toContain("/share/");
  const link = new URL(await shown.inputValue());
  const stranger = await open(link.pathname, { as: null, expected: /404/ });
  await rowsIn(stranger).first().click();
  await stranger.getByText("What is 6 × 7?").first().waitFor();
  await whole(stranger);
  expect(await stranger.content()).not.toMatch(/secret-/);
  await page.reload();
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByRole("button", { name: "Stop sharing" }).click();
  await page.getByText("The trace is not shared").waitFor();
  await stranger.reload();
  await stranger.getByText("Nothing is shared here").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Delete this trace" }).click();
  const remove = page.getByRole("button", { name: "Delete trace", exact: true });
  await page.getByRole("dialog").getByRole("textbox").fill("shared");
  await expect.poll(() => remove.isDisabled()).toBe(true);
  await page.getByRole("dialog").getByRole("textbox").fill(trace.slice(0, 8));
  await remove.click();
  await page.waitForURL(/\/traces(?:\?|$)/);
});

browserTest("an unknown trace is named as such, and is not retried", async () => {
  const page = await open("/traces/never-sent", { expected: /404/ });
  const words = page.getByText("No trace with this id in this environment");
  await expectNone(page.getByRole("button", { name: "Retry" }), words);
});
