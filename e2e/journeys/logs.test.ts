import { readFileSync } from "node:fs";
import { expect, inject } from "vitest";
import { createClient } from "../../server/test/support/test-client.ts";
import { testKeys } from "../../server/test/support/test-app.ts";
import { browserTest, open } from "../support/browse.ts";
import { unique } from "../support/unique.ts";
import { expectNone, whole } from "../support/whole.ts";

const rows = "[role=grid] [role=row]:has([role=gridcell])";

/** Resolves once lists have the span: an open list does not refresh. */
async function send(span: Record<string, unknown>, key = testKeys.prod): Promise<string> {
  const client = createClient(inject("site")?.url ?? "", key);
  const { status, json } = await client.post("/api/request-logs/", span);
  expect(status).toBe(201);
  const { unique_id } = json as { unique_id: string };
  expect((await client.get(`/api/request-logs/${unique_id}/`)).status).toBe(200);
  return unique_id;
}

/** Failed tool calls of a separate customer, and the query that finds only them. */
async function sendFailed(count: number): Promise<{ customer: string; query: string }> {
  const customer = unique("failing");
  for (let n = 0; n < count; n += 1)
    await send({ customer_identifier: customer, log_type: "tool", span_name: `failed ${n}`, status_code: 500 });
  return { customer, query: `customer:${customer} status:error` };
}

browserTest("a typed query filters the list, is in the URL, and Back removes it", async () => {
  const page = await open("/logs?range=30d");
  await page.locator(rows).first().waitFor();
  const query = page.getByRole("combobox", { name: "Query" });
  await query.fill("status:error name^=find");
  await query.press("Enter");
  await page.waitForURL(/[?&]q=/);
  await page.locator("[role=grid][aria-busy=false]").waitFor();
  await page.getByText("find policy").first().waitFor();
  await expect
    .poll(() => page.locator(rows).allInnerTexts())
    .toSatisfy((texts: string[]) => texts.length > 5 && texts.every((text) => /500[^]*find policy/.test(text)));
  const link = page.url();
  await page.goBack();
  await page.getByText("assistant turn").first().waitFor();

  const colleague = await open(new URL(link).pathname + new URL(link).search);
  await colleague.getByText("find policy").first().waitFor();
  const theirs = colleague.getByRole("combobox", { name: "Query" });
  await expect.poll(() => theirs.inputValue()).toContain("status:error");
});

browserTest("free words find an error message, and the name of a span", async () => {
  const [name, quota] = [unique("invoice"), unique("quota")];
  await send({ span_name: `settle ${name}`, status: "failed", error_message: `${quota} exhausted` }, testKeys.test);
  for (const words of [quota.toUpperCase(), `"settle ${name}"`]) {
    const page = await open(`/logs?env=test&range=30d&q=${encodeURIComponent(words)}`);
    await page.locator(rows, { hasText: `settle ${name}` }).waitFor();
    await expect.poll(() => page.locator(rows).count()).toBe(1);
  }
});

browserTest("a value of a facet becomes part of the query", async () => {
  const page = await open("/logs?range=30d");
  await page.getByRole("complementary", { name: "Facets" }).getByText("claude-sonnet-4-6").click();
  await page.waitForURL(/q=model/);
  await expect
    .poll(() => page.locator(rows).allInnerTexts())
    .toSatisfy((texts: string[]) => texts.length > 0 && texts.every((text) => text.includes("claude-sonnet-4-6")));
});

browserTest("the keyboard moves through the list, opens a span beside it and closes it", async () => {
  const page = await open("/logs?range=30d&q=type:chat");
  await page.locator(rows).first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("region", { name: "Span", exact: true });
  await panel.getByText("assistant").first().waitFor();
  const before = page.url();
  await page.keyboard.press("j");
  await page.waitForURL((url) => url.href !== before);
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
});

browserTest("the keyboard opens a row also after a click on the link to the list", async () => {
  const page = await open("/traces?range=30d");
  await page.getByRole("link", { name: "Logs" }).click();
  await page.getByRole("grid", { name: "Spans" }).getByRole("gridcell").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Span", exact: true }).waitFor();
  await page.getByRole("link", { name: "Traces" }).click();
  await page.getByRole("grid", { name: "Traces" }).getByRole("gridcell").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/traces\/./);
});

browserTest("after a span was closed, Back leaves the list and does not open the span again", async () => {
  const page = await open("/traces?range=30d");
  await page.getByRole("link", { name: "Logs" }).click();
  const panel = page.getByRole("region", { name: "Span", exact: true });
  await page.locator(rows).nth(2).click();
  await panel.waitFor();
  await page.keyboard.press("j");
  await panel.getByRole("tab", { name: "Cost" }).click();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  await page.locator(rows).nth(1).click();
  await panel.getByRole("button", { name: "Close" }).click();
  await panel.waitFor({ state: "detached" });
  await page.goBack();
  await page.waitForURL(/\/traces/);
  await page.goForward();
  await expectNone(panel, page.locator(rows));
});

browserTest("Reload shows spans that arrived since, within the same minute and between fixed times", async () => {
  const [customer, now] = [unique("reloaded"), Date.now()];
  const fixed = { from: new Date(now - 3_600_000).toISOString(), to: new Date(now + 3_600_000).toISOString() };
  for (const [index, range] of [{ range: "1h" }, fixed].entries()) {
    const page = await open(`/logs?${new URLSearchParams({ ...range, q: `customer:${customer}` }).toString()}`);
    for (const name of ["first", "second"]) {
      await whole(page);
      await send({ customer_identifier: customer, span_name: `${name} of ${index}` });
      await page.getByRole("button", { name: "Reload", exact: true }).click();
      await page
        .locator(rows)
        .filter({ hasText: `${name} of ${index}` })
        .waitFor();
    }
  }
});

browserTest("the live tail shows a span that arrives", async () => {
  const customer = unique("live-tail");
  const page = await open(`/logs?range=1h&q=customer:${customer}`);
  await page.getByRole("button", { name: "Live" }).click();
  const name = "seen while it happened";
  // The tail shows only spans that arrive after it starts.
  await expect
    .poll(
      async () => {
        await send({ customer_identifier: customer, span_name: name, model: "gpt-4o", log_type: "chat" });
        return await page.locator(rows).filter({ hasText: name }).count();
      },
      { interval: 1500 },
    )
    .toBeGreaterThan(0);
});

browserTest("content of a span is text, whatever it looks like", async () => {
  const hostile = `<img src="http://elsewhere.invalid/x" onerror="alert(1)">\u202Eevil\u0007`;
  const id = await send({
    customer_identifier: hostile,
    span_name: hostile,
    model: "<script>alert(1)</script>",
    log_type: "chat",
    prompt_messages: [
      {
        role: "user",
        content: `[press](javascript:alert(1)) ![picture](http://elsewhere.invalid/y.png) <script>alert(1)</script>`,
      },
      { role: "assistant", content: hostile },
    ],
  });
  const page = await open(`/spans/${id}`);
  let dialogs = 0;
  page.on("dialog", (dialog) => {
    dialogs += 1;
    void dialog.dismiss();
  });
  await page.getByText("press").first().waitFor();
  for (const tab of ["JSON", "Cost", "Details"]) {
    await page.getByRole("tab", { name: tab }).click();
    await expectNone(page.locator("a[href^='javascript:'], img[src^='http'], [onerror]"), page.getByText("evil"));
  }
  expect(dialogs).toBe(0);
});

browserTest("rows selected with the keyboard get a pin and a note together, and are found by these", async () => {
  const { query } = await sendFailed(3);
  const page = await open(`/logs?range=30d&q=${query}`);
  await page.locator(rows).nth(2).waitFor();
  for (const key of ["j", "x", "j", "j", "Shift+X"]) await page.keyboard.press(key);
  const bar = page.getByRole("toolbar", { name: "Selected spans" });
  await bar.getByRole("button", { name: "Pin", exact: true }).click();
  await bar.getByText("3 saved").waitFor();
  await bar.getByRole("button", { name: "Note" }).click();
  const note = unique("seen");
  await page.getByRole("textbox", { name: "Note" }).fill(note);
  await page.getByRole("button", { name: "Save the note" }).click();
  const found = await open(`/logs?range=30d&q=pinned:true note:${note}`);
  await expect
    .poll(async () => {
      await found.reload();
      await whole(found);
      return await found.locator(rows).count();
    })
    .toBe(3);
});

browserTest("an export has exactly the spans of the list", async () => {
  const { customer, query } = await sendFailed(3);
  await send({ customer_identifier: customer, log_type: "tool", span_name: "went well" });
  const page = await open(`/logs?range=30d&q=${query}`);
  await page.getByText("3 spans", { exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Export" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: /JSON Lines/ }).click(),
  ]);
  const lines = readFileSync(await download.path(), "utf8")
    .trim()
    .split("\n");
  const names = lines.map((line) => (JSON.parse(line) as { span_name: string }).span_name);
  expect(names.toSorted()).toEqual(["failed 0", "failed 1", "failed 2"]);
});

browserTest("a saved view opens the same list", async () => {
  const name = unique("Dear errors");
  const page = await open("/logs?range=7d&q=status:error&sort=-cost&cols=timestamp,cost,metadata.plan");
  await page.locator(rows).first().waitFor();
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("textbox", { name: "Name of the view" }).fill(name);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name, exact: true }).waitFor();
  const other = await open("/logs");
  await other.getByRole("button", { name: "Views" }).click();
  await other.getByRole("button", { name, exact: true }).click();
  await other.waitForURL(/sort=-cost/);
  const search = new URL(other.url()).searchParams;
  expect(Object.fromEntries(search)).toEqual({
    range: "7d",
    q: "status:error",
    sort: "-cost",
    cols: "timestamp,cost,metadata.plan",
  });
});

browserTest("an invalid query names its word, and shows no list", async () => {
  const page = await open("/logs?range=30d&q=colour:red");
  await page.getByText("The query cannot be read.").waitFor();
  await expectNone(page.locator(rows), page.getByText("there is no field colour"));
  await expectNone(page.getByText("Counting…"), page.getByText("there is no field colour"));
});

browserTest("Enter presses the focused button, also if a row is selected", async () => {
  const page = await open("/logs?range=30d&q=type:chat");
  await page.locator(rows).first().waitFor();
  await page.keyboard.press("j");
  await page.getByRole("button", { name: "Live" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/live=on/);
  expect(new URL(page.url()).searchParams.has("span")).toBe(false);
});
