import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  evaluated,
  historyOf,
  minuteMs,
  newAlert,
  newestEndMs,
  startAlertApp,
  type AlertApp,
} from "../support/alerts.ts";
import { eventually } from "../support/evaluation.ts";
import { startMailServer } from "../support/smtp.ts";
import { bodyOf } from "../support/spans.ts";
import type { Row } from "../support/test-client.ts";

/** Additions E: e-mail channels, with a real mail server. */

let mail: Awaited<ReturnType<typeof startMailServer>>;
let app: AlertApp;
beforeAll(async () => {
  mail = await startMailServer();
  app = await startAlertApp({ SPANWAY_SMTP_URL: mail.url, SPANWAY_SMTP_FROM: "alerts@spanway.example" });
});
afterAll(async () => {
  await app.stop();
  await mail.close();
});

const mailsTo = (address: string, count: number) =>
  eventually(async () => {
    const found = mail.mails.filter(({ to }) => to.includes(address));
    return found.length >= count ? found : undefined;
  });

const headersOf = (raw: string): string => (raw.split("\r\n\r\n")[0] ?? "").replaceAll(/\r\n[ \t]+/g, " ");

test("an alert is a plain text mail about the rule; its name and groups cannot inject headers", async () => {
  const { prod } = await app.newOrganization();
  const to = "ops+alerts@example.com";
  const timestamp = new Date(newestEndMs(app.now()) - minuteMs / 2).toISOString();
  const customer_identifier = "eve\r\nBcc: all@example.com\r\n\r\nBody";
  for (let i = 0; i < 2; i += 1) await prod.post("/api/request-logs/", { timestamp, customer_identifier });
  await prod.waitForSpans(2);
  const made = await newAlert(prod, {
    name: 'Zahl „der" Anfragen, <b> & more: Bcc',
    group_by: "customer_identifier",
    channels: [{ type: "email", to }],
  });
  expect(made.channels).toMatchObject([{ type: "email", to, active: true }]);
  const [received] = await mailsTo(to, 1);
  expect([received!.from, received!.to]).toEqual(["alerts@spanway.example", [to]]);
  const headers = headersOf(received!.raw);
  expect(headers).toMatch(/^From: Spanway <alerts@spanway.example>$/m);
  expect(headers).toMatch(/^Content-Type: text\/plain/m);
  expect(headers).not.toMatch(/^Bcc/im);
  expect(headers).toMatch(/^Message-ID: <msg_[\w-]+@127.0.0.1>$/im);
  expect(headers.match(/^Subject: /gm)).toHaveLength(1);
  await eventually(async () => {
    const [entry] = await historyOf(prod, made.id);
    const [delivery] = entry!["deliveries"] as Row[];
    return delivery?.["status"] === "delivered" || undefined;
  });
});

describe("invalid or multiple addresses are 400:", () => {
  const addresses = [
    "ops",
    "@example.com",
    "ops@",
    "a@example.com,b@example.com",
    "a@example.com b@example.com",
    "a@example.com\r\nBcc: b@example.com",
    "a@example.com\nRCPT TO:<b@example.com>",
    "Ops <ops@example.com>",
    '"a\\r\\n"@example.com',
    "a@example.com>",
    "a@exa mple.com",
    "a\u0000@example.com",
    `${"a".repeat(250)}@example.com`,
  ];
  test.each(addresses)("%j", async (to) => {
    const body = { name: "N", metric: "number_of_requests", window: "5m", operator: "gt", threshold: 1 };
    const answer = await app.prod.post("/api/alerts/", { ...body, channels: [{ type: "email", to }] });
    expect([answer.status, Object.keys((answer.json as { errors: Row }).errors)]).toEqual([400, ["channels.0.to"]]);
  });
});

test("a test returns the mail server's response", async () => {
  const { prod } = await app.newOrganization();
  const { id, channels } = await newAlert(prod, {
    threshold: 1e6,
    channels: [
      { type: "email", to: "tested@example.com" },
      { type: "email", to: "refused@example.com" },
    ],
  });
  const results = bodyOf(await prod.post(`/api/alerts/${id}/test/`))["results"] as Row[];
  const resultOf = (to: string) =>
    results.find(({ channel }) => channel === channels.find((each) => each["to"] === to)!.id);
  expect(resultOf("tested@example.com")).toMatchObject({ type: "email", is_delivered: true, error: null });
  expect(resultOf("refused@example.com")).toMatchObject({
    is_delivered: false,
    error: expect.stringContaining("no such mailbox"),
  });
  expect(headersOf((await mailsTo("tested@example.com", 1))[0]!.raw)).toMatch(/^Subject: Test: Too many requests$/m);
});

test("while the mail server is down, mail waits, and the password is in no response", async () => {
  const { prod } = await app.newOrganization();
  await mail.close();
  const made = await newAlert(prod, { threshold: 0, channels: [{ type: "email", to: "later@example.com" }] });
  await evaluated(prod, made.id);
  const deliveryOf = async () => ((await historyOf(prod, made.id))[0]?.["deliveries"] as Row[] | undefined)?.[0];
  const waiting = await eventually(async () => {
    const delivery = await deliveryOf();
    return delivery?.["attempts"] === 1 ? delivery : undefined;
  });
  expect(waiting).toMatchObject({
    status: "pending",
    response_status: null,
    error: expect.stringMatching(/REFUSED|refused/),
  });
  const tested = await prod.post(`/api/alerts/${made.id}/test/`);
  expect(bodyOf(tested)["results"]).toMatchObject([{ is_delivered: false }]);
  expect(tested.text).not.toContain("a mail password");
  const port = Number(new URL(mail.url).port);
  mail = await startMailServer(port);
  app.pass(10 * minuteMs);
  await mailsTo("later@example.com", 1);
});
