import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { ServiceError } from "../domain/errors.ts";
import { newIdentity } from "../ingest/identity.ts";
import { createGatewayMetrics } from "../telemetry/gateway-metrics.ts";
import { createRecorder, type SpanRecord } from "./recorder.ts";

/** A recorder of three records at most, before an intake whose journal is full until told. */
function start() {
  const accepted: string[] = [];
  const journal = { isFull: true, refusals: 0 };
  const registry = new Registry();
  const recorder = createRecorder({
    intake: {
      accept: (bodies) => {
        if (journal.isFull) {
          journal.refusals += 1;
          return Promise.reject(new ServiceError("unavailable", "The journal is full."));
        }
        accepted.push(...bodies.map((body) => String((body as { model: unknown }).model)));
        return Promise.resolve(bodies.map(() => ({ ok: true, row: {} as never })));
      },
    },
    metrics: createGatewayMetrics(registry),
    logger: pino({ level: "silent" }),
    maxRecords: 3,
  });
  return { accepted, journal, recorder, registry };
}

function record(model: string, key = "key"): SpanRecord {
  const origin = {
    organization_id: "org",
    environment: "prod",
    organization_key_id: key,
    organization_key_name: key,
    log_method: "gateway",
  } as const;
  return { body: { model }, origin, identity: newIdentity(), bytes: 100 };
}

test("while the journal takes none, calls are taken as long as their records find room, and none is lost", async () => {
  const { accepted, journal, recorder, registry } = start();
  const call = (model: string): Promise<void> =>
    recorder.during(() => {
      recorder.add(record(model));
      return Promise.resolve();
    });
  for (const model of ["1", "2", "3"]) await call(model);
  let begun = 0;
  const refused = recorder.during(() => {
    begun += 1;
    return Promise.resolve();
  });
  await expect(refused).rejects.toMatchObject({ code: "unavailable", retryAfterS: 1 });
  expect(begun).toBe(0);
  await expect.poll(() => journal.refusals).toBeGreaterThan(1);
  expect(await registry.getSingleMetricAsString("spanway_gateway_records_waiting")).toMatch(/ 3$/);

  journal.isFull = false;
  await expect.poll(() => accepted).toEqual(["1", "2", "3"]);
  await call("4");
  await recorder.stop(1_000);
  expect(accepted).toEqual(["1", "2", "3", "4"]);
});

test("records of several keys go apart, in their order", async () => {
  const { accepted, journal, recorder } = start();
  for (const [model, key] of [
    ["a1", "a"],
    ["b1", "b"],
    ["a2", "a"],
  ] as const)
    recorder.add(record(model, key));
  journal.isFull = false;
  await recorder.stop(1_000);
  expect(accepted).toEqual(["a1", "a2", "b1"]);
});

test("stopping waits for calls under way and their records, as long as it may", async () => {
  const { accepted, journal, recorder } = start();
  journal.isFull = false;
  const call = recorder.during(async () => {
    await sleep(50);
    recorder.add(record("late"));
  });
  await recorder.stop(5_000);
  expect(accepted).toEqual(["late"]);
  await call;

  const stuck = start();
  stuck.recorder.add(record("lost"));
  await stuck.recorder.stop(50);
  expect(stuck.accepted).toEqual([]);
  expect(await stuck.registry.getSingleMetricAsString("spanway_gateway_records_lost_total")).toMatch(/ 1$/);
});
