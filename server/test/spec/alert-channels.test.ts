import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiLimits } from "../../src/api/limits.ts";
import {
  evaluated,
  historyOf,
  minuteMs,
  newAlert,
  newPath,
  newestEndMs,
  nextMinute,
  received,
  retrieveAlert,
  send,
  spansOf,
  startAlertApp,
  type AlertApp,
  type AlertRow,
} from "../support/alerts.ts";
import { eventually } from "../support/evaluation.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { bodyOf } from "../support/spans.ts";
import type { Row } from "../support/test-client.ts";

/** Additions E: notifications of alerts. */

let app: AlertApp;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  app = await startAlertApp({ SPANWAY_PUBLIC_URL: "https://spanway.example" });
});
afterAll(async () => {
  await app.stop();
  await receiver.close();
});

describe("channels", () => {
  test("get one event from a flapping rule per cooldown, and later events while the state lasts", async () => {
    const { prod } = await app.newOrganization();
    const path = newPath();
    const made = await newAlert(prod, {
      threshold: 1,
      cooldown: "30m",
      min_requests: 0,
      channels: [
        {
          type: "webhook",
          url: receiver.url + path,
        },
      ],
    });
    await evaluated(prod, made.id);
    /** Not yet in the newest window. */
    const nextSpan = () => ({ timestamp: new Date(newestEndMs(app.now()) + minuteMs / 2).toISOString() });
    for (let flap = 0; flap < 3; flap += 1) {
      await send(app, prod, [nextSpan()]);
      expect((await nextMinute(app, prod, made)).state).toBe("triggered");
      app.pass(4 * minuteMs);
      expect((await nextMinute(app, prod, made)).state).toBe("ok");
    }
    const types = () => receiver.on(path).map(({ json }) => json["type"]);
    await received(receiver, path, 2);
    expect(types()).toEqual(["alert_triggered", "alert_resolved"]);
    app.pass(30 * minuteMs);
    await send(app, prod, [nextSpan()]);
    await nextMinute(app, prod, made);
    await received(receiver, path, 3);
    expect(types()).toEqual(["alert_triggered", "alert_resolved", "alert_triggered"]);
  });

  test("of Slack get one text without mentions from spans; their URL is never shown", async () => {
    const { prod } = await app.newOrganization();
    const path = `/services/T000/secret-${randomUUID()}`;
    await send(app, prod, spansOf(2, { customer_identifier: "<!channel> & co\n" }));
    const made = await newAlert(prod, {
      name: "Loud <@U1>",
      group_by: "customer_identifier",
      channels: [
        {
          type: "slack",
          url: receiver.url + path,
        },
      ],
    });
    const [message] = await received(receiver, path, 1);
    expect(Object.keys(message!.json)).toEqual(["text"]);
    const text = String(message!.json["text"]);
    expect(text).toContain("Loud &lt;@U1&gt;");
    expect(text).toContain("&lt;!channel&gt; &amp; co");
    expect(text).not.toMatch(/<[!@]/);
    expect(message!.headers).not.toHaveProperty("webhook-signature");
    for (const suffix of ["", "history/"]) {
      expect((await prod.get(`/api/alerts/${made.id}/${suffix}`)).text).not.toContain("secret-");
    }
    // A retrieved list can be sent back, and the URL is kept.
    const { channels } = await retrieveAlert(prod, made.id);
    const same = await prod.request("PATCH", `/api/alerts/${made.id}/`, { channels });
    expect(bodyOf(same)["channels"]).toEqual(channels);
    expect(bodyOf(await prod.post(`/api/alerts/${made.id}/test/`))["results"]).toMatchObject([{ is_delivered: true }]);
    const texts = receiver.on(path).map(({ json }) => String(json["text"]));
    expect(texts).toHaveLength(2);
    for (const each of texts) expect(each).toContain(`https://spanway.example/alerts/${made.id}`);
    // It is not one of the organization's webhooks.
    expect((await prod.get("/api/webhooks/")).json).toEqual([]);
    expect((await prod.get(`/api/webhooks/${channels[0]!.id}/`)).status).toBe(404);
  });

  test("are each tested, with their responses, at most once in ten seconds", async () => {
    const { prod } = await app.newOrganization();
    const [good, bad] = [newPath(), `/services/secret-${randomUUID()}`];
    const [hidden, nowhere] = ["http://169.254.169.254/latest/", "http://nobody.invalid/"] as const;
    receiver.answer(bad, (request, response) => response.writeHead(302, { location: request.url ?? "" }).end("no"));
    const { id } = await newAlert(prod, {
      threshold: 1e6,
      channels: [
        { type: "webhook", url: receiver.url + good },
        { type: "slack", url: receiver.url + bad },
        { type: "webhook", url: hidden },
        { type: "webhook", url: nowhere },
      ],
    });
    const tested = await prod.post(`/api/alerts/${id}/test/`);
    const { channels } = await retrieveAlert(prod, id);
    const results = bodyOf(tested)["results"] as Row[];
    const resultAt = (url: string) => {
      const { id: channel } = channels.find((each) => each["url"] === url)!;
      return results.find((each) => each["channel"] === channel);
    };
    expect(results).toHaveLength(4);
    expect(resultAt(receiver.url + good)).toMatchObject({ is_delivered: true, response_status: 200, error: null });
    expect(resultAt(`${receiver.url}/…`)).toMatchObject({ type: "slack", is_delivered: false, response_status: 302 });
    for (const url of [hidden, nowhere]) {
      expect(resultAt(url)).toMatchObject({ is_delivered: false, response_status: null, error: expect.any(String) });
    }
    expect(tested.text).not.toContain("secret-");
    expect(receiver.on(good)[0]!.json).toMatchObject({
      is_test: true,
      state: "triggered",
      alert: { url: `https://spanway.example/alerts/${id}` },
      spans_url: expect.stringMatching(/^https:\/\/spanway\.example\/api\/request-logs\/list\//),
    });
    expect((await prod.post(`/api/alerts/${id}/test/`)).status).toBe(429);
    app.pass(apiLimits.alertTestEveryMs);
    expect((await prod.post(`/api/alerts/${id}/test/`)).status).toBe(200);
  });

  test("that were down for an hour are notified afterwards, as the history shows", async () => {
    const { prod } = await app.newOrganization();
    const path = newPath();
    receiver.answer(path, (_request, response) => response.writeHead(500).end());
    await send(app, prod, spansOf(2));
    const { id } = await newAlert(prod, { channels: [{ type: "webhook", url: receiver.url + path }] });
    const deliveryOf = async (): Promise<Row> =>
      ((await historyOf(prod, id)).at(-1)?.["deliveries"] as Row[] | undefined)?.[0] ?? {};
    const waiting = await eventually(async () => {
      const delivery = await deliveryOf();
      return delivery["attempts"] === 1 ? delivery : undefined;
    });
    expect(waiting).toMatchObject({ status: "pending", response_status: 500, error: "the receiver answered 500" });
    receiver.answer(path, (_request, response) => response.end("ok"));
    app.pass(60 * minuteMs);
    const done = await eventually(async () => {
      const delivery = await deliveryOf();
      return delivery["status"] === "delivered" ? delivery : undefined;
    }, 15_000);
    expect(done).toMatchObject({ attempts: 2, error: null });
  });

  test("are replaced as a whole: named ones stay, others are deleted", async () => {
    const { prod } = await app.newOrganization();
    const urls = [newPath(), newPath(), newPath()].map((path) => receiver.url + path);
    const made = await newAlert(prod, {
      threshold: 1e6,
      channels: urls.slice(0, 2).map((url) => ({ type: "webhook", url })),
    });
    const first = made.channels.find(({ url }) => url === urls[0]);
    const answer = await prod.request("PATCH", `/api/alerts/${made.id}/`, {
      channels: [
        { id: first!.id, type: "webhook", url: urls[2] },
        { type: "webhook", url: urls[1] },
      ],
    });
    const { channels } = bodyOf(answer) as AlertRow;
    expect(channels).toHaveLength(2);
    const [moved, fresh] = [urls[2], urls[1]].map((url) => channels.find((each) => each["url"] === url));
    expect([moved!.id, moved!.secrets]).toEqual([first!.id, undefined]);
    expect(made.channels.map(({ id }) => id)).not.toContain(fresh!.id);
    expect(fresh!.secrets).toMatch(/^whsec_/);
  });

  test("are not exclusive: webhooks of the organization get every alert", async () => {
    const { prod } = await app.newOrganization();
    const path = newPath();
    const hook = { url: receiver.url + path, name: "All", event_type: "alert_triggered" };
    expect((await prod.post("/api/webhooks/", hook)).status).toBe(201);
    await send(app, prod, spansOf(2));
    const { id } = await newAlert(prod);
    expect((await received(receiver, path, 1))[0]!.json).toMatchObject({ type: "alert_triggered", alert: { id } });
  });
});
