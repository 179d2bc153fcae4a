import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countSpans } from "../../../../test/support/count-spans.ts";
import type { SpanStore } from "../span-store.ts";
import { describeConversations } from "./conversations-contract.ts";
import { describeCounting } from "./counting-contract.ts";
import { describeCustomers } from "./customers-contract.ts";
import { describeEdits } from "./edits-contract.ts";
import { describeExports } from "./exports-contract.ts";
import { describeMedia } from "./media-contract.ts";
import { describeNewMessages } from "./new-messages-contract.ts";
import { describeFailures, describeUpkeep } from "./operations-contract.ts";
import { describeFilterValues, describeReads } from "./reads-contract.ts";
import { describeSeries } from "./series-contract.ts";
import { describeRepricing } from "./repricing-contract.ts";
import { describeRows } from "./rows-contract.ts";
import { describeSums } from "./sums-contract.ts";
import { describeTraces } from "./traces-contract.ts";
import type { ContractDriver } from "./span-fixtures.ts";

/**
 * How much of the contract a driver is tested with. `everything`: the driver in the process. `transport`: statements,
 * rows and failures on their way to a server. `shards`: every function, with rows on several servers. The text of a
 * statement does not depend on the driver.
 */
export type ContractPart = "everything" | "transport" | "shards";

/** The contract of every driver of the span store. `open` may be called again: each call is another node. */
export function describeSpanStore(driver: string, open: ContractDriver["open"], part: ContractPart): void {
  describe(`span store on ${driver}`, () => {
    let store: SpanStore;
    const called = new Set<string>(["close"]);
    beforeAll(async () => {
      store = noting(open(), called);
      await store.migrate();
    });
    afterAll(async () => {
      await store.close();
    });

    const keys = new Set<string>();
    const insert = async (rows: readonly object[], token: string = randomUUID()) => {
      const marked = rows.map((row) => (isNewKey(keys, row) ? row : { is_resend: 1, ...row }));
      const ndjson = Buffer.from(marked.map((row) => `${JSON.stringify(row)}\n`).join(""));
      const hasResends = marked.some((row) => "is_resend" in row);
      await store.insert({ ndjson, rows: rows.length, token, hasResends });
      await countSpans(store, rows);
    };

    const isWhole = part === "everything";
    const contract: ContractDriver = {
      open,
      store: () => store,
      insert,
      once: isWhole ? it : () => undefined,
      variations: (all) => (isWhole ? all : all.slice(0, 1)),
    };
    // First, because a pass builds the sums of everything stored, including the rows of earlier tests.
    if (part !== "transport") describeSums(contract);
    describeRows(contract);
    describeExports(contract);
    if (part !== "shards") {
      describeFilterValues(contract);
      describeFailures(contract);
    }
    if (part === "transport") return;
    describeReads(contract);
    describeConversations(contract);
    describeNewMessages(contract);
    describeMedia(contract);
    describeEdits(contract);
    describeSeries(contract);
    describeTraces(contract);
    describeCustomers(contract);
    describeCounting(contract);
    describeRepricing(contract);
    describeUpkeep(contract);
    it("is tested in every function", () => {
      expect(Object.keys(store).filter((name) => !called.has(name))).toEqual([]);
    });
  });
}

/** A store that records which of its functions were used. */
function noting(store: SpanStore, called: Set<string>): SpanStore {
  return new Proxy(store, {
    get(target, name: keyof SpanStore) {
      called.add(name);
      return target[name];
    },
  });
}

/** The key of a tombstone exists, or may exist. */
function isNewKey(keys: Set<string>, row: object): boolean {
  const values = new Map(Object.entries(row));
  const key = ["organization_id", "environment", "timestamp", "unique_id"].map((name) => values.get(name)).join("\n");
  if (keys.has(key) || values.get("is_deleted") === 1) return false;
  keys.add(key);
  return true;
}
