import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, test } from "vitest";
import {
  changesAndPasses,
  expectSame,
  expectSameAfter,
  History,
  runPass,
  selections,
  step,
} from "./contract/sums-contract.ts";
import { openSpanStore } from "./clickhouse-span-store.ts";
import type { SpanStore } from "./span-store.ts";

const path = mkdtempSync(join(tmpdir(), "spanway-sums-"));
const open = (bounds = {}) => openSpanStore({ kind: "chdb", path }, { bounds, sumsFromSpans: 0 });
let store: SpanStore;
beforeAll(async () => {
  store = open();
  await store.migrate();
});
afterAll(async () => {
  await store.close();
  rmSync(path, { recursive: true, force: true });
});

test("sums match the spans after any inserts, resends, deletions and passes", async () => {
  const untilMs = performance.now() + 60_000;
  const histories = fc.array(step, { minLength: 6, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => {
      if (performance.now() > untilMs) return;
      const history = new History({ open, store: () => store });
      try {
        await history.begin();
        for (const [index, each] of steps.entries()) {
          await history.do(each);
          await expectSame(history.store, history.org, [selections[index % selections.length] ?? selections[0]]);
        }
        await runPass(history.store);
        await expectSame(history.store, history.org, selections);
      } finally {
        await history.close();
      }
    }),
    { numRuns: 30, endOnFailure: true },
  );
});

test("sums match the spans after each change, before and after a pass", async () => {
  await expectSameAfter({ open, store: () => store }, changesAndPasses, selections);
});
