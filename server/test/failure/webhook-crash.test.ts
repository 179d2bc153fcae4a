import { afterAll, beforeAll, expect, test } from "vitest";
import { startReceiver, verify, type Receiver } from "../support/receiver.ts";
import { newDataDir, startServerProcess } from "../support/server-process.ts";
import { bodyOf } from "../support/spans.ts";

const dataDir = newDataDir();
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await dataDir.remove();
});

const rounds = 3;
const settings = { SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1", SPANWAY_TRACE_QUIET_SECONDS: "1" };

test(`after ${rounds} kills under load every accepted span is delivered, and repeated deliveries have the same id and body`, async () => {
  // A receiver that fails sometimes keeps part of the queue waiting at each kill.
  let requests = 0;
  receiver.answer("/logs", (_request, response) => {
    requests += 1;
    response.writeHead(requests % 7 === 0 ? 500 : 200).end();
  });
  const accepted = new Set<string>();
  let secret = "";
  for (let round = 0; round < rounds; round += 1) {
    const server = await startServerProcess(dataDir.path, settings);
    if (round === 0) {
      const hook = { url: `${receiver.url}/logs`, name: "Logs", event_type: "request_log" };
      secret = String(bodyOf(await server.prod.post("/api/webhooks/", hook))["secrets"]);
      const traces = { url: `${receiver.url}/traces`, name: "Traces", event_type: "trace_completed" };
      await server.prod.post("/api/webhooks/", traces);
    }
    const write = async (): Promise<void> => {
      for (let i = 0; ; i += 1) {
        const answer = await server.prod
          .post("/api/request-logs/", { input: `${round} ${i}`, trace_unique_id: `trace ${round}` })
          .catch(() => undefined);
        if (answer === undefined) return;
        if (answer.status === 201) accepted.add(String(bodyOf(answer)["unique_id"]));
      }
    };
    const writers = [write(), write(), write()];
    const enough = accepted.size + 11 + Math.random() * 30;
    await expect.poll(() => accepted.size, { timeout: 20_000, interval: 5 }).toBeGreaterThan(enough);
    await server.kill("SIGKILL");
    await Promise.all(writers);
  }
  expect(accepted.size).toBeGreaterThan(rounds * 10);

  const server = await startServerProcess(dataDir.path, settings);
  const delivered = (): Set<string> => new Set(receiver.on("/logs").map(({ json }) => String(json["unique_id"])));
  const missing = (): number => [...accepted].filter((id) => !delivered().has(id)).length;
  await expect.poll(missing, { timeout: 60_000, interval: 200 }).toBe(0);
  const messages = Map.groupBy(receiver.on("/logs"), ({ headers }) => headers["webhook-id"] ?? "");
  for (const attempts of messages.values()) expect(new Set(attempts.map(({ body }) => body)).size).toBe(1);
  expect(messages.size).toBe(delivered().size);
  expect(verify(secret, receiver.on("/logs").at(-1)!)).toBeDefined();

  const traces = (): unknown[] => [...new Set(receiver.on("/traces").map(({ json }) => json["trace_unique_id"]))];
  await expect.poll(() => traces().length, { timeout: 60_000, interval: 200 }).toBe(rounds);
  expect(await server.kill("SIGTERM")).toEqual({ code: 0 });
}, 180_000);
