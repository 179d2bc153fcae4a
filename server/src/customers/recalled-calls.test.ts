import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMemoryControl } from "../../test/support/memory-control.ts";
import { createPostgresDatabase, postgresSkipReason, postgresUrl } from "../../test/support/postgres.ts";
import { createControlStores, type ControlStores } from "../storage/control/control-stores.ts";
import { openControlDatabase } from "../storage/control/open-control-database.ts";
import { createSpendLedger } from "./ledger-queue.ts";

type Place = { stores: ControlStores; close: () => Promise<void> };

async function postgresControl(): Promise<Place> {
  const { url, drop } = await createPostgresDatabase();
  const database = openControlDatabase({ kind: "postgres", url });
  await database.migrate();
  const close = async () => {
    await database.close();
    await drop();
  };
  return { stores: createControlStores(database), close };
}

describe("calls that are settled late, on SQLite", () => {
  describeCalls(openMemoryControl);
});
describe.skipIf(postgresUrl === undefined)(`calls that are settled late, on Postgres${postgresSkipReason}`, () => {
  describeCalls(postgresControl);
});

const usd = 1_000_000_000n;

function describeCalls(open: () => Promise<Place>): void {
  let place: Place;
  let nowMs = Date.parse("2026-03-10T12:00:00Z");
  beforeAll(async () => {
    place = await open();
    const created_at = new Date(nowMs).toISOString();
    const organization = { unique_organization_id: "org", name: "org", retention_days: null, created_at };
    await place.stores.organizations.create(organization);
  });
  afterAll(() => place.close());

  /** A node and its customer, who has 10 USD. */
  const begin = async (customer_identifier: string) => {
    const key = { organization_id: "org", environment: "prod", customer_identifier } as const;
    const ignore = () => undefined;
    const logger = pino({ level: "silent" });
    const { stores } = place;
    const ledger = createSpendLedger({
      stores,
      logger,
      onSettlementFailure: ignore,
      onRefused: ignore,
      now: () => nowMs,
    });
    await ledger.open(key, { periodStart: "", period: 0n, total: 0n });
    const budgets = { periodStart: "", periodBudget: undefined, totalBudget: 10n * usd };
    const publishReached = () => Promise.resolve(ignore);
    const reserve = async (callId: string) => {
      const outcome = await ledger.reserve({ key, callId, amount: 3n * usd, ...budgets, publishReached });
      if (outcome.kind !== "reserved") throw new Error(outcome.kind);
      return { key, id: outcome.id, budgets, publishReached };
    };
    const recall = (callId: string, spent: bigint | null) => ledger.recall(key, { callId, spent });
    /** Spent and reserved, in USD. */
    const state = async () => {
      const found = await ledger.find(key);
      return [Number(found?.total) / Number(usd), Number(found?.reserved) / Number(usd)];
    };
    return { key, ledger, reserve, recall, state, stores };
  };

  test("a call that a process recorded but did not settle is settled once by the next process", async () => {
    const { ledger, reserve, recall, state } = await begin("recorded");
    ledger.settle({ ...(await reserve("settled")), spent: usd });
    await expect.poll(state).toEqual([1, 0]);
    await reserve("recorded");
    await reserve("without a cost");
    for (const callId of ["settled", "recorded", "recorded", "unknown"]) await recall(callId, 2n * usd);
    expect(await state()).toEqual([3, 3]);
    await recall("without a cost", null);
    expect(await state()).toEqual([6, 0]);
  });

  test("a reservation that was released meanwhile is settled too, within a day", async () => {
    const { reserve, recall, state, stores } = await begin("given back");
    for (const callId of ["late", "too late"]) await reserve(callId);
    const release = () =>
      stores.transaction(({ customerLedger }) => customerLedger.releaseExpired(new Date(nowMs).toISOString()));
    nowMs += 60_000;
    expect(await release()).toBe(2);
    expect(await state()).toEqual([0, 0]);
    for (let times = 0; times < 2; times += 1) await recall("late", 2n * usd);
    expect(await state()).toEqual([2, 0]);
    nowMs += 86_400_000;
    expect(await release()).toBe(0);
    await recall("too late", 2n * usd);
    expect(await state()).toEqual([2, 0]);
  });

  test("a reservation that is repeated because its response was lost counts once", async () => {
    const { key, ledger, reserve, state, stores } = await begin("made again");
    const { budgets } = await reserve("other");
    const request = { key, id: "again", nodeId: "node", expiresAt: new Date(nowMs + 30_000).toISOString(), ...budgets };
    const make = (amount: bigint) =>
      stores.transaction(({ customerLedger }) => customerLedger.reserve({ ...request, amount }));
    expect(await make(8n * usd)).toBeUndefined();
    for (let times = 0; times < 2; times += 1) expect(await make(6n * usd)).toMatchObject({ reserved: 9n * usd });
    ledger.settle({ key, id: "again", spent: usd, budgets, publishReached: () => Promise.resolve(() => undefined) });
    await ledger.stop(3_000);
    expect(await state()).toEqual([1, 3]);
  });

  test("a settlement that is repeated because its response was lost counts once", async () => {
    const { ledger, reserve, state } = await begin("sent again");
    const reservation = await reserve("lost answer");
    for (let times = 0; times < 2; times += 1) ledger.settle({ ...reservation, spent: 2n * usd });
    await ledger.stop(3_000);
    expect(await state()).toEqual([2, 0]);
  });
}
