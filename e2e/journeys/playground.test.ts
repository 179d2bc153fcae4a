import { expect } from "vitest";
import { testKeys } from "../../server/test/support/test-app.ts";
import { browserTest, open } from "../support/browse.ts";

browserTest("two models answer side by side, typed text survives a reload, and the span opens", async () => {
  const page = await open("/playground");
  await page.getByLabel("Content").fill("Which city is the capital of Australia?");
  await page.getByRole("button", { name: "Add model" }).click();
  await page.reload();
  const answers = [1, 2].map((at) => page.getByRole("region", { name: `Model ${at}`, exact: true }));
  await expect.poll(() => answers[1]?.getByLabel("Model", { exact: true }).inputValue()).toBe("spanway/echo");
  await page.getByRole("button", { name: "Send" }).click();
  for (const answer of answers) {
    await answer.getByText("Which city is the capital of Australia?").waitFor();
    await answer.getByText("7 + 7 tokens").waitFor();
  }
  await answers[1]?.getByRole("link", { name: "Open span" }).click();
  await page.waitForURL(/\/spans\//);
  await page.getByText("Which city is the capital of Australia?").first().waitFor();
});

browserTest("a response that hangs can be stopped, and a failed one shows the reason", async () => {
  const page = await open("/playground", { expected: /400/ });
  await page.getByLabel("Content").fill("hello");
  await page.route("**/api/chat/completions", () => undefined);
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("status").filter({ hasText: "Stopped" }).waitFor();
  await page.unroute("**/api/chat/completions");
  await page.getByLabel("Model", { exact: true }).fill("no-such-model");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("alert").filter({ hasText: "no-such-model" }).waitFor();
});

browserTest("a logged call opens with its messages, tools and parameters", async () => {
  const page = await open("/playground");
  const logged = await page.request.post("/api/request-logs/", {
    headers: { authorization: `Bearer ${testKeys.prod}` },
    data: {
      model: "gpt-4o",
      log_type: "chat",
      temperature: 0.25,
      tools: [{ type: "function", function: { name: "find_flight" } }],
      prompt_messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "When does it leave?" },
      ],
      completion_message: { role: "assistant", content: "At noon." },
    },
  });
  const { unique_id } = (await logged.json()) as { unique_id: string };
  await page.goto(`/spans/${unique_id}?tab=details`);
  await page.getByRole("link", { name: "Open in playground" }).click();
  await page.waitForURL(/\/playground\?.*span=/);
  const second = page.getByRole("group", { name: "Message 2" });
  await expect.poll(() => second.getByLabel("Content").inputValue()).toBe("When does it leave?");
  await expect.poll(() => page.getByLabel("Model", { exact: true }).inputValue()).toBe("gpt-4o");
  await expect.poll(() => page.getByLabel("Temperature").inputValue()).toBe("0.25");
  await expect.poll(() => page.getByLabel("Tools, as JSON").inputValue()).toContain("find_flight");
  await second.getByRole("button", { name: "Move up" }).click();
  await expect.poll(() => page.getByLabel("Content").first().inputValue()).toBe("When does it leave?");
});

browserTest("a model of a provider without a key links to the form that adds one", async () => {
  const page = await open("/playground", { expected: /status of/ });
  await page.getByLabel("Model", { exact: true }).fill("mistral/mistral-small-latest");
  await page.getByLabel("Content").fill("Hello");
  await page.getByRole("button", { name: "Send" }).click();
  const alert = page.getByRole("alert").filter({ hasText: "No key for this model" });
  await alert.getByText("There is no credential for mistral").waitFor();
  await alert.getByRole("link", { name: "Providers" }).click();
  await page.waitForURL(({ pathname }) => pathname === "/providers");
});
