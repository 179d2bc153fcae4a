import { expect, onTestFinished } from "vitest";
import { done, helloStream, usageChunk } from "../../server/test/support/chat.ts";
import { answers, startScriptedUpstream, streams } from "../../server/test/support/scripted-upstream.ts";
import { newDataDir, startServerProcess } from "../../server/test/support/server-process.ts";
import { testAdmin } from "../../server/test/support/test-app.ts";
import { browserTest, open } from "../support/browse.ts";
import { newViewer } from "../support/people.ts";
import { expectNone, whole } from "../support/whole.ts";

/** A server with a key for Groq in its environment, and one local upstream for all providers. */
async function startWithUpstream() {
  const upstream = await startScriptedUpstream();
  upstream.script(streams(...helloStream, usageChunk(), done));
  const folder = newDataDir();
  const server = await startServerProcess(folder.path, {
    SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1",
    GROQ_API_KEY: "gsk-of-the-server",
    GROQ_BASE_URL: `${upstream.url}/v1`,
  });
  onTestFinished(async () => {
    await server.kill("SIGTERM");
    await folder.remove();
    await upstream.stop();
  });
  const lastKey = (): string | undefined => upstream.requests.at(-1)?.headers["authorization"];
  return { server, upstream, lastKey };
}

browserTest("a custom server is added, tried, gets another key, is disabled and deleted", async () => {
  const { server, upstream, lastKey } = await startWithUpstream();
  const page = await open("/providers", { url: server.url, expected: /400/ });
  const dialog = page.getByRole("dialog");
  const stored = page.getByRole("table", { name: "Stored credentials" });
  await page.getByRole("button", { name: "Add credential" }).click();
  await dialog.getByLabel("Provider").selectOption("Your own server…");
  await dialog.getByLabel("Name of your server").fill("my-lab");
  await dialog.getByLabel("API key").fill("sk-lab-first-0123456789");
  await dialog.getByLabel("Base URL").fill("lab.example.com");
  await dialog.getByLabel("Models it serves").fill("lab-1\nlab-2");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("must be an http:// or https:// address").waitFor();
  await expect.poll(() => dialog.getByLabel("API key").inputValue()).toBe("sk-lab-first-0123456789");
  await dialog.getByLabel("Base URL").fill(`${upstream.url}/v1`);
  await page.keyboard.press("Enter");
  await stored.getByText("…6789").waitFor();
  const row = stored.getByRole("row").last();
  await expect.poll(() => row.innerText()).toMatch(/my-lab[\s\S]*lab-1, lab-2[\s\S]*prod/);

  await page.getByRole("button", { name: "Try one call of my-lab" }).click();
  await page.waitForURL(/try=my-lab/);
  await dialog.getByLabel("Model").fill("lab-2");
  await dialog.getByRole("button", { name: "Send" }).click();
  const answer = dialog.getByRole("region", { name: "Answer" });
  await answer.getByText("Hello.").waitFor();
  await answer.getByText("10 + 2 tokens").waitFor();
  await answer.getByText("Done").waitFor();
  await expect.poll(() => answer.innerText()).toMatch(/Done[\s\S]*No price is known[\s\S]*(?:\d+ ?ms|\d s)/);
  expect(lastKey()).toBe("Bearer sk-lab-first-0123456789");
  expect(JSON.parse(upstream.requests.at(-1)?.body ?? "")).toMatchObject({ model: "lab-2" });
  await answer.getByRole("link", { name: "Open span" }).click();
  await page.waitForURL(/\/spans\//);
  await page.getByText("Say hello in one short sentence.").first().waitFor();
  await page.goBack();
  await page.keyboard.press("Escape");

  await stored.getByRole("button", { name: "Replace the key of my-lab" }).click();
  await dialog.getByRole("button", { name: "Replace key" }).click();
  await dialog.getByText("Enter the new key.").waitFor();
  await dialog.getByLabel("API key").fill("sk-lab-second-9876543210");
  await page.keyboard.press("Enter");
  await stored.getByText("…3210").waitFor();
  await whole(page);
  expect(await page.content()).not.toContain("sk-lab-");
  await page.getByRole("button", { name: "Try one call of my-lab" }).click();
  await dialog.getByLabel("Model").fill("lab-1");
  await page.keyboard.press("Enter");
  await dialog.getByText("Hello.").waitFor();
  expect(lastKey()).toBe("Bearer sk-lab-second-9876543210");
  await page.keyboard.press("Escape");

  await stored.getByRole("button", { name: "Edit my-lab" }).click();
  await dialog.getByLabel("Base URL").fill("https://elsewhere.example.com/v1");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("a stored key is never sent to another address").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await stored.getByRole("button", { name: "Turn off my-lab" }).click();
  await stored.getByText("off", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Try one call of my-lab" }).waitFor({ state: "detached" });
  await stored.getByRole("button", { name: "Delete my-lab" }).click();
  await page.getByRole("button", { name: "Delete credential" }).click();
  await page.getByText("None. A stored key comes before").waitFor();
});

browserTest(
  "the server's key is marked as such; a call that fails with it shows the reason and links to its span",
  async () => {
    const { server, upstream } = await startWithUpstream();
    upstream.script(answers(401, { error: { message: "Incorrect API key provided." } }));
    const page = await open("/providers?find=GROQ", { url: server.url, expected: /424/ });
    const row = page.getByRole("table", { name: "Providers" }).getByRole("row").filter({ hasText: "groq" });
    await row.getByText("server's environment").waitFor();
    await whole(page);
    expect(await page.content()).not.toContain("gsk-of-the-server");
    await row.getByRole("button", { name: "Try one call of groq" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Model").fill("llama-3.3-70b-versatile");
    await dialog.getByLabel("Message").fill("Are you there?");
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByRole("alert").filter({ hasText: "The provider refused the credential in use." }).waitFor();
    await dialog.getByRole("link", { name: "Open span" }).waitFor();
    const cost = await dialog.getByTitle("Cost").getByText("$").innerText();
    await expect.poll(() => dialog.getByLabel("Message").inputValue()).toBe("Are you there?");
    expect(upstream.requests).toHaveLength(1);

    // A list has a span once the writer has stored it.
    const calls = row.getByRole("link", { name: /^\d+$/ });
    await expect
      .poll(async () => {
        await page.goto("/providers?find=groq");
        await row.waitFor();
        await whole(page);
        return await calls.count();
      })
      .toBeGreaterThan(0);
    await calls.last().click();
    await page.waitForURL(/\/logs\?.*provider/);
    const logged = page.getByRole("row").filter({ hasText: "llama-3.3-70b-versatile" }).first();
    await logged.getByRole("gridcell").filter({ hasText: cost }).first().waitFor();
  },
);

browserTest(
  "the form asks for the fields that another credential of the same provider needs, and a refusal keeps the text",
  async () => {
    const page = await open("/providers", { expected: /40[039]|413|429/ });
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Add key for bedrock" }).click();
    await dialog.getByLabel("Access key ID").fill("AKIA0123456789");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("is required").first().waitFor();
    for (const label of ["Region", "Secret access key"])
      await expect.poll(() => dialog.getByLabel(label).getAttribute("aria-invalid")).toBe("true");
    await dialog.getByLabel("Region").fill("us-east-1");
    await dialog.getByLabel("Secret access key").fill("secret-0123456789abcd");
    for (const [status, title] of [
      [403, "Your role does not permit this"],
      [409, "The request was refused"],
      [413, "This is too large"],
      [429, "Too many requests"],
    ] as const) {
      await page.route("**/api/providers/", (route) =>
        route.fulfill({ status, json: { detail: `No: ${status}.`, code: "refused" }, headers: { "retry-after": "3" } }),
      );
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog
        .getByRole("alert")
        .filter({ hasText: title })
        .filter({ hasText: `No: ${status}.` })
        .waitFor();
      await expect.poll(() => dialog.getByLabel("Secret access key").inputValue()).toBe("secret-0123456789abcd");
      await page.unroute("**/api/providers/");
    }
  },
);

browserTest(
  "an address that the server will refuse to call is saved, with the reason beside it until it is corrected",
  async () => {
    const page = await open("/providers");
    await page.getByRole("button", { name: "Add credential" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Provider").selectOption("Your own server…");
    await dialog.getByLabel("Name of your server").fill("at-home");
    await dialog.getByLabel("Base URL").fill("http://localhost:11434/v1");
    await dialog.getByRole("button", { name: "Save" }).click();
    const reason = page
      .getByRole("alert")
      .filter({ hasText: "Calls to at-home will be refused: localhost is not a public" });
    await reason.waitFor();
    await page.getByRole("button", { name: "Edit at-home" }).click();
    await dialog.getByLabel("Base URL").fill("https://llm.example.com/v1");
    await dialog.getByRole("button", { name: "Save" }).click();
    await reason.waitFor({ state: "detached" });
  },
);

browserTest("a viewer sees the providers, and can change and call nothing", async () => {
  const admin = await open("/providers");
  const viewer = await newViewer(admin);
  const page = await open("/providers?try=spanway", { as: viewer });
  await page.getByText("Your role does not permit viewing them.").waitFor();
  const sign = page.getByRole("cell", { name: "openrouter", exact: true });
  await expectNone(page.getByRole("main").getByRole("button"), sign);
  await expectNone(page.getByRole("dialog"), sign);
});

browserTest("a prod credential is changed from the test environment, and the keyboard opens the screen", async () => {
  const { server } = await startWithUpstream();
  await server.prod.post("/api/providers/", { provider: "mistral", name: "Paid", api_key: "sk-mistral-0123456789" });
  const page = await open("/logs?env=test", { url: server.url, as: testAdmin });
  await page.getByRole("link", { name: "Providers" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Screen or id" }).fill("prov");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/providers\?.*env=test/);
  await expectNone(page.getByRole("button", { name: "Delete Paid" }), page.getByText("changed from prod"));
  await page.getByRole("button", { name: "prod", exact: true }).click();
  await page.getByRole("button", { name: "Delete Paid" }).waitFor();
});
