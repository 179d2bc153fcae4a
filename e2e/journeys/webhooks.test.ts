import { expect, onTestFinished } from "vitest";
import { startReceiver, verify } from "../../server/test/support/receiver.ts";
import { newDataDir, startServerProcess } from "../../server/test/support/server-process.ts";
import { browserTest, open } from "../support/browse.ts";

browserTest(
  "a webhook is created, its deliveries are listed and resent, its secret and name are changed, and it is deleted",
  async () => {
    const receiver = await startReceiver();
    const folder = newDataDir();
    const server = await startServerProcess(folder.path, { SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
    onTestFinished(async () => {
      await server.kill("SIGTERM");
      await folder.remove();
      await receiver.close();
    });
    const page = await open("/webhooks", { url: server.url });
    await page.getByRole("button", { name: "New webhook" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Every span");
    await dialog.getByLabel("URL").fill(`${receiver.url}/spans`);
    await dialog.getByRole("button", { name: "Create webhook" }).click();
    const oldSecret = await dialog.getByLabel("secret", { exact: true }).innerText();
    expect(oldSecret).toMatch(/^whsec_/);
    await dialog.getByRole("button", { name: "Done" }).click();

    const stored = await server.prod.post("/api/request-logs/", { model: "gpt-4o", input: "hi", output: "ho" });
    expect(stored.status).toBe(201);
    await page.getByRole("button", { name: "Every span", exact: true }).click();
    const deliveries = page.getByRole("table", { name: "Deliveries" });
    await deliveries.getByText("delivered").waitFor();
    await deliveries.getByRole("button", { name: "Send again" }).click();
    await expect.poll(() => receiver.on("/spans").length).toBe(2);
    const [first, second] = receiver.on("/spans").map(({ headers }) => headers["webhook-id"]);
    expect(second).toBe(first);

    await page.getByRole("button", { name: "New secret for Every span" }).click();
    await page.getByRole("button", { name: "Make new secret" }).click();
    await dialog.getByLabel("secret", { exact: true }).waitFor();
    const secret = await dialog.getByLabel("secret", { exact: true }).innerText();
    await dialog.getByRole("button", { name: "Done" }).click();
    await deliveries.getByRole("button", { name: "Send again" }).click();
    await expect.poll(() => receiver.on("/spans").length).toBe(3);
    const last = receiver.on("/spans").at(-1) ?? { body: "", headers: {} };
    for (const valid of [secret, oldSecret]) expect(verify(valid, last)).toMatchObject({ model: "gpt-4o" });
    expect(secret).not.toBe(oldSecret);

    // Another user changes the URL while the form is open: saving a new name does not revert it.
    await page.getByRole("button", { name: "Edit Every span" }).click();
    const [webhook] = (await server.prod.get("/api/webhooks/")).json as Array<{ id: number }>;
    const moved = { url: `${receiver.url}/elsewhere` };
    expect((await server.prod.request("PATCH", `/api/webhooks/${webhook?.id}/`, moved)).status).toBe(200);
    await dialog.getByLabel("Name").fill("All spans");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "All spans", exact: true }).waitFor();
    await page.getByText(moved.url).waitFor();

    await page.getByRole("button", { name: "Delete All spans" }).click();
    await page.getByRole("button", { name: "Delete webhook" }).click();
    await page.getByText("No webhooks").waitFor();
  },
);
