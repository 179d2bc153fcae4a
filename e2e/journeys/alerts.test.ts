import { expect, onTestFinished } from "vitest";
import { startReceiver } from "../../server/test/support/receiver.ts";
import { newDataDir, startServerProcess } from "../../server/test/support/server-process.ts";
import { testKeys } from "../../server/test/support/test-app.ts";
import { browserTest, open } from "../support/browse.ts";
import { newViewer } from "../support/people.ts";
import { unique } from "../support/unique.ts";
import { expectNone } from "../support/whole.ts";

const asKey = { authorization: `Bearer ${testKeys.prod}` };

/** A server that may call a receiver on loopback. */
async function startWithReceiver() {
  const receiver = await startReceiver();
  const folder = newDataDir();
  const server = await startServerProcess(folder.path, { SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1" });
  onTestFinished(async () => {
    await server.kill("SIGTERM");
    await folder.remove();
    await receiver.close();
  });
  return { server, receiver };
}

browserTest("an alert is created, tested, seen in the list, edited and deleted", async () => {
  const { server, receiver } = await startWithReceiver();
  const page = await open("/alerts", { url: server.url });
  await page.getByRole("button", { name: "New alert" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Costs of Acme");
  // Without Enter: the text in the bar applies.
  await dialog.getByRole("combobox", { name: "Query" }).fill("customer:acme model:gpt-4o");
  await dialog.getByLabel("Metric").selectOption("Cost");
  await dialog.getByRole("button", { name: "Add a channel" }).click();
  await dialog.getByLabel("URL of channel 1").fill(`${receiver.url}/told`);
  await dialog.getByRole("button", { name: "Create alert" }).click();
  await dialog.getByText("A number to compare with.").waitFor();
  await dialog.getByLabel("Threshold, USD").fill("10");
  await dialog.getByRole("button", { name: "Create alert" }).click();
  await dialog
    .getByLabel(/^secret of/)
    .filter({ hasText: /^whsec_/ })
    .waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();

  const list = page.getByRole("table", { name: "Alerts" });
  await list.getByRole("cell", { name: "Cost > $10.00 in 15m", exact: true }).waitFor();
  await list.getByRole("link", { name: "Costs of Acme" }).click();
  await page.getByText("customer:acme model:gpt-4o").waitFor();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("delivered, 200").waitFor();
  expect(receiver.on("/told").map(({ json }) => json)).toMatchObject([{ is_test: true, metric: "total_cost" }]);

  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Threshold, USD").fill("20");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("main").getByText("Cost > $20.00 in 15m").first().waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete alert" }).click();
  await page.getByText("No alerts").waitFor();
});

browserTest("the list shows how many groups are triggered, and the change for a rule about changes", async () => {
  const page = await open("/alerts");
  const [batch, name] = [unique("batch"), unique("More calls")];
  const customers = ["a", "b", "c"].map((letter) => unique(letter));
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const send = async (customer_identifier: string | undefined, minutes: number) => {
    const data = { customer_identifier, timestamp: minutesAgo(minutes), metadata: { batch } };
    expect((await page.request.post("/api/request-logs/", { headers: asKey, data })).status()).toBe(201);
  };
  // In the window before the previous one, and in the previous one: windows of 30 minutes end at a full minute.
  for (const customer of customers) await send(customer, 45);
  for (const customer of [customers[0], customers[0], customers[0], customers[1], customers[2]])
    await send(customer, 15);
  await page.getByRole("button", { name: "New alert" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill(name);
  await dialog.getByRole("combobox", { name: "Query" }).fill(`metadata.batch:${batch}`);
  await dialog.getByLabel("Metric").selectOption("Requests");
  await dialog.getByLabel("Window").selectOption("30 minutes");
  await dialog.getByLabel("Alert when").selectOption("Its change, %");
  await dialog.getByLabel("Threshold, %").fill("50");
  await dialog.getByLabel("Group by").selectOption("metadata.batch");
  await dialog.getByLabel("and by").selectOption("customer");
  await dialog.getByLabel("Cooldown").selectOption("1 hour");
  await dialog.getByRole("button", { name: "Create alert" }).click();
  const row = page.getByRole("table", { name: "Alerts" }).getByRole("row").filter({ hasText: name });
  await row.getByRole("cell", { name: "Requests up by more than 50% in 30m", exact: true }).waitFor();
  await row.getByText("1 of 3 triggered").waitFor();
  await row.getByText("+200%").waitFor();
  await row.getByText(customers[0] ?? "").waitFor();
});

browserTest("a viewer reads alerts and edits nothing", async () => {
  const admin = await open("/alerts");
  const name = unique("Seen by viewers");
  const fields = { name, metric: "number_of_requests", window: "5m", operator: "gt", threshold: 5 };
  const made = await admin.request.post("/api/alerts/", { headers: asKey, data: fields });
  const { id } = (await made.json()) as { id: string };
  const viewer = await newViewer(admin);
  const page = await open("/alerts", { as: viewer });
  await expectNone(page.getByRole("button", { name: "New alert" }), page.getByRole("link", { name }));
  await page.goto(`/alerts/${id}`);
  await expectNone(page.getByRole("button", { name: /Edit|Delete|Send a test|Turn/ }), page.getByText("No channels"));
});
