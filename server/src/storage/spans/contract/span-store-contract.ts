import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe } from "vitest";
import type { SpanStore } from "../span-store.ts";
import { describeOperations } from "./operations-contract.ts";
import { describeReads } from "./reads-contract.ts";
import { describeRows } from "./rows-contract.ts";
import { describeTraces } from "./traces-contract.ts";
import type { ContractDriver } from "./span-fixtures.ts";

/** What every driver of the span store keeps to. `open` may be called again: each call is a node of its own. */
export function describeSpanStore(driver: string, open: ContractDriver["open"]): void {
  describe(`span store on ${driver}`, () => {
    let store: SpanStore;
    beforeAll(async () => {
      store = open();
      await store.migrate();
    });
    afterAll(async () => {
      await store.close();
    });

    const insert = async (rows: readonly object[], token: string = randomUUID()) => {
      const lines = rows.map((row) => JSON.stringify(row));
      await store.insert({ ndjson: Buffer.from(`${lines.join("\n")}\n`), rows: rows.length, token });
    };

    const contract: ContractDriver = { open, store: () => store, insert };
    describeRows(contract);
    describeReads(contract);
    describeTraces(contract);
    describeOperations(contract);
  });
}
