import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, inject, onTestFinished } from "vitest";
import { createClient } from "../../server/test/support/test-client.ts";
import { testKeys } from "../../server/test/support/test-app.ts";
import { seriousFindings } from "../support/axe.ts";
import { browserTest, open } from "../support/browse.ts";
import { unique } from "../support/unique.ts";
import { expectNone, pause, whole } from "../support/whole.ts";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function send(span: Record<string, unknown>): Promise<string> {
  const site = inject("site")?.url ?? "";
  const { json } = await createClient(site, testKeys.prod).post("/api/request-logs/", span);
  return (json as { unique_id: string }).unique_id;
}

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });

// Any dialog, any request to another host and any refused content fails a test, see support/browse.ts.
browserTest("the head of a span leads to its customer", async () => {
  const page = await open("/logs");
  const [name, customer] = [unique("billed"), unique("whose span")];
  const headers = { authorization: `Bearer ${testKeys.prod}` };
  const data = { span_name: name, customer_identifier: customer, input: "x" };
  expect((await page.request.post("/api/request-logs/", { headers, data })).status()).toBe(201);
  await page.goto(`/logs?q=name:"${name}"`);
  await page.locator("[role=grid] [role=row]:has([role=gridcell])").first().click();
  const head = page.getByRole("region", { name: "Span", exact: true }).locator("header").first();
  await head.getByRole("link", { name: customer }).click();
  await page.getByRole("heading", { level: 1, name: customer }).waitFor();
});

browserTest("hostile content is shown as text and executes nothing", async () => {
  const evil =
    "<script>alert(1)</script><img src=x onerror=alert(1)> [x](javascript:alert(1)) ![p](https://evil.invalid/p.png) \u001B[31mred user\u202Egnp.exe half\uD83D";
  const id = await send({
    span_name: evil,
    model: "../../etc/passwd",
    customer_identifier: "a/../💥",
    thread_identifier: evil,
    error_message: evil,
    status_code: 500,
    metadata: { [evil]: evil },
    full_request: { [evil]: evil },
    prompt_tokens: 7,
    prompt_messages: [
      { role: "system", content: evil },
      user([
        { type: "text", text: `Start\n\n${evil}` },
        { type: "image_url", image_url: { url: "https://evil.invalid/pixel.png" } },
        { type: "image_url", image_url: { url: "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+" } },
        { type: "image_url", image_url: { url: `data:image/png;base64,${btoa("<script>alert(1)</script>")}` } },
        { type: "image_url", image_url: { url: `data:text/html;base64,${png}` } },
      ]),
    ],
    completion_message: {
      role: "assistant",
      content: evil,
      tool_calls: [{ function: { name: evil, arguments: evil } }],
    },
  });
  for (const [tab, shows] of [
    ["conversation", "text=Start"],
    ["json", "role=treeitem"],
    ["request", "text=Request as sent"],
    ["cost", "text=no price"],
    ["details", "text=Timing"],
  ] as const) {
    const page = await open(`/spans/${id}?tab=${tab}`);
    page.on("dialog", () => expect.unreachable("a script ran"));
    const panel = page.getByRole("region", { name: "Span", exact: true });
    const sign = panel.locator(shows);
    await expectNone(panel.locator("script, iframe, object, embed, style, [onerror], [onload]"), sign);
    await expectNone(panel.locator("a[href^='javascript' i]"), sign);
    await expect.poll(() => panel.locator("img").count()).toBe(tab === "conversation" ? 1 : 0);
    expect(await panel.evaluate(({ textContent }) => textContent)).not.toContain("\u202E");
  }
});

browserTest("an image of another host is loaded on a click, not before", async () => {
  const requests: { path: string | undefined; referer: string | undefined }[] = [];
  const elsewhere = createServer(({ url, headers }, answer) => {
    requests.push({ path: url, referer: headers.referer });
    answer.writeHead(200, { "content-type": "image/png" }).end(Buffer.from(png, "base64"));
  });
  await once(elsewhere.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void elsewhere.close());
  const { port } = elsewhere.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/pixel.png`;
  const id = await send({
    model: "gpt-4o",
    prompt_messages: [
      user([
        { type: "image_url", image_url: { url } },
        { type: "text", text: `Look: ![it](${url})` },
      ]),
    ],
    completion_message: assistant("I see."),
  });
  const page = await open(`/spans/${id}`);
  await page.getByText("I see.").waitFor();
  await whole(page);
  await pause(page, 500);
  expect(requests).toEqual([]);
  const [opened] = await Promise.all([
    page.waitForEvent("popup"),
    page.getByRole("link", { name: `Open image of 127.0.0.1:${port}` }).click(),
  ]);
  await opened.locator("img").waitFor();
  await expect.poll(() => requests.find(({ path }) => path === "/pixel.png")).toEqual({ path: "/pixel.png" });
  expect(opened.url()).toBe(url);
});

browserTest("earlier turns are collapsed, new messages are open", async () => {
  const thread = unique("folded");
  const first = [{ role: "system", content: "Be brief." }, user("the first question")];
  await send({
    model: "gpt-4o",
    thread_identifier: thread,
    prompt_messages: first,
    completion_message: assistant("one"),
  });
  const id = await send({
    model: "gpt-4o",
    thread_identifier: thread,
    prompt_messages: [...first, assistant("one"), user("the second question")],
    completion_message: assistant("two"),
  });
  const page = await open(`/spans/${id}`);
  await expectNone(page.getByText("the first question"), page.getByText("the second question"));
  await page.getByText("3 earlier messages").click();
  await page.getByText("the first question").waitFor();
  expect(await seriousFindings(page)).toEqual([]);

  await page.goto(`/threads?thread=${thread}`);
  await expectNone(page.getByText("Be brief."), page.getByRole("region", { name: "Turn 1" }));
  await expect.poll(() => page.getByText("the first question").count()).toBe(1);
});

browserTest("a note, feedback, metadata and a score are stored", async () => {
  const id = await send({ model: "gpt-4o", input: "hello", output: "hi" });
  const page = await open(`/spans/${id}?tab=details`);
  await page.getByLabel("Note", { exact: true }).fill("to look at again");
  await page.getByRole("button", { name: "Save note" }).click();
  await page.getByRole("button", { name: "Bad" }).click();
  await page.getByRole("button", { name: "Add a key" }).click();
  await page.getByLabel("Key", { exact: true }).fill("reviewed_by");
  await page.getByLabel("Value", { exact: true }).fill("kim");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("reviewed_by").waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.reload();
  await page.getByText("reviewed_by").waitFor();
  await expect.poll(() => page.getByLabel("Note", { exact: true }).inputValue()).toBe("to look at again");
  await page.getByRole("button", { name: "Bad", pressed: true }).waitFor();
});

browserTest("a span of ten megabytes opens, and the keyboard moves through its JSON", async () => {
  const messages = Array.from({ length: 2000 }, (_value, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: `message ${at} ${"lorem ipsum ".repeat(400)}`,
  }));
  const id = await send({ model: "gpt-4o", prompt_messages: messages, completion_message: assistant("the end") });
  const page = await open(`/spans/${id}`);
  await page.getByText("the end").waitFor();
  await whole(page);
  await expect.poll(() => page.locator("*").count()).toBeLessThan(3000);
  await page.getByRole("tab", { name: "JSON" }).click();
  await page.getByRole("tree").focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => page.getByRole("treeitem").count()).toBe(1);
});
