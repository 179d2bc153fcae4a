import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openCallSpool } from "./call-spool.ts";

/** From empty to longer than the write buffer. */
const text = fc
  .tuple(fc.string({ unit: "grapheme" }), fc.constantFrom(1, 1, 10, 200, 3_000, 20_000))
  .map(([part, times]) => part.repeat(times));

test("returns records of any size in order, except those over the bound", () => {
  const folder = mkdtempSync(join(tmpdir(), "spanway-spool-"));
  const maxBytes = 1_000_000;
  const open = () => openCallSpool({ path: folder, maxBytes, onProblem: ({ reason }) => expect.unreachable(reason) });
  fc.assert(
    fc.property(fc.array(fc.array(text, { maxLength: 30 }), { maxLength: 3 }), (batches) => {
      const spool = open();
      const taken: string[] = [];
      for (const batch of batches) {
        const outcomes = spool.append(batch);
        expect(outcomes).toHaveLength(batch.length);
        taken.push(...batch.filter((_, index) => outcomes[index]));
      }
      expect(spool.bytes()).toBeLessThanOrEqual(maxBytes);
      const all = batches.flat().reduce((sum, each) => sum + Buffer.byteLength(each) + 8, 0);
      expect(taken.length === batches.flat().length || all > maxBytes).toBe(true);
      spool.close();
      const next = open();
      expect(next.previous.flatMap((file) => [...file.texts()].map(String))).toEqual(taken);
      for (const file of next.previous) file.discard();
      next.close();
    }),
    { numRuns: 50 },
  );
  rmSync(folder, { recursive: true });
});
