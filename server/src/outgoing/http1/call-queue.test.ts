import fc from "fast-check";
import { expect, test } from "vitest";
import { Call } from "./call.ts";
import { CallQueue } from "./call-queue.ts";

const newCall = (): Call => new Call("POST", { onRequestStart: () => undefined } as never, () => undefined);

test("calls leave in the order of their arrival, but for those that left before, and none stays in two queues", () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant({ kind: "add" as const, which: 0 }) },
    { weight: 2, arbitrary: fc.constant({ kind: "take" as const, which: 0 }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), which: fc.nat() }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const queue = new CallQueue();
      const other = new CallQueue();
      const seen: Call[] = [];
      const expected: Call[] = [];
      const taken: Array<[Call | undefined, Call | undefined]> = [];
      for (const { kind, which } of steps) {
        if (kind === "add") {
          const call = newCall();
          seen.push(call);
          expected.push(call);
          queue.add(call);
        } else if (kind === "take") {
          taken.push([queue.take(), expected.shift()]);
        } else if (seen.length > 0) {
          const call = seen[which % seen.length];
          if (call === undefined) continue;
          other.remove(call);
          queue.remove(call);
          const index = expected.indexOf(call);
          if (index !== -1) expected.splice(index, 1);
        }
        expect(queue.size).toBe(expected.length);
      }
      for (const call of [...expected, undefined]) taken.push([queue.take(), call]);
      for (const [call, wanted] of taken) expect(call).toBe(wanted);
    }),
  );
});
