import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ChunkRepair } from "./chunk-repair.ts";

type Row = Record<string, unknown>;
type Call = { id: string; name: string; args: string[] };

const name = fc.constantFrom("weather", "time", "search");
const json = fc.dictionary(fc.string({ maxLength: 4 }), fc.string({ maxLength: 4 }), { maxKeys: 3 });

/** Arguments as a stream sends them: JSON text in pieces. */
const pieces = fc.tuple(json, fc.nat(3)).map(([value, splits]) => {
  const text = JSON.stringify(value);
  const size = Math.max(1, Math.ceil(text.length / (splits + 1)));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size));
});

const calls: fc.Arbitrary<Call[]> = fc
  .array(fc.record({ name, args: pieces }), { minLength: 1, maxLength: 4 })
  .map((list) => list.map((call, i) => ({ ...call, id: `call_${i}` })));

const chunkOf = (delta: Row, finish: string | null = null): Row => ({
  id: "c",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

/** The chunks of OpenAI's own stream for these calls. */
function clean(toolCalls: Call[]): Row[] {
  return [
    chunkOf({ role: "assistant", content: null }),
    ...toolCalls.flatMap(({ id, name: tool, args }, index) => [
      chunkOf({ tool_calls: [{ index, id, type: "function", function: { name: tool, arguments: "" } }] }),
      ...args.map((piece) => chunkOf({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    chunkOf({}, "tool_calls"),
  ];
}

type Faults = {
  role: "" | null | "assistant";
  hasIndex: boolean;
  hasCallIndex: boolean;
  laterName: undefined | null | "" | "again";
  laterId: undefined | null | "" | "again";
  lateId: boolean;
  hasType: boolean;
};

const faults: fc.Arbitrary<Faults> = fc.record({
  role: fc.constantFrom("" as const, null, "assistant" as const),
  hasIndex: fc.boolean(),
  hasCallIndex: fc.boolean(),
  laterName: fc.constantFrom(undefined, null, "" as const, "again" as const),
  laterId: fc.constantFrom(undefined, null, "" as const, "again" as const),
  lateId: fc.boolean(),
  hasType: fc.boolean(),
});

/** The same stream with the faults of servers that imitate it. */
function spoil(toolCalls: Call[], fault: Faults): Row[] {
  const dirty = (chunk: Row): Row => {
    const [choice = {}] = chunk["choices"] as Row[];
    const { index, ...rest } = choice;
    return { ...chunk, choices: [fault.hasIndex ? { index, ...rest } : rest] };
  };
  const later = <T>(how: undefined | null | "" | "again", value: T): { value?: T | null | "" } =>
    how === undefined ? {} : { value: how === "again" ? value : how };
  const chunks = toolCalls.flatMap(({ id, name: tool, args }, index) =>
    ["", ...args].map((piece, n) => {
      const isFirst = n === 0;
      const isIdTime = fault.lateId ? n === args.length : isFirst;
      const { value: idAgain } = later(fault.laterId, id);
      const { value: nameAgain } = later(fault.laterName, tool);
      // A late id does not appear before its time.
      const isBefore = fault.lateId && n < args.length;
      const idMember = isIdTime ? { id } : isBefore ? {} : idAgain === undefined ? {} : { id: idAgain };
      const nameMember = isFirst ? { name: tool } : nameAgain === undefined ? {} : { name: nameAgain };
      return chunkOf({
        tool_calls: [
          {
            ...(fault.hasCallIndex && { index }),
            ...idMember,
            ...(fault.hasType && isFirst && { type: "function" }),
            function: { ...nameMember, arguments: piece },
          },
        ],
      });
    }),
  );
  return [chunkOf({ role: fault.role, content: null }), ...chunks, chunkOf({ role: fault.role }, "tool_calls")].map(
    dirty,
  );
}

function refuse(isWrong: boolean, what: string): void {
  if (isWrong) throw new Error(what);
}

/** Accumulates chunks as OpenAI's Node SDK does, and throws on what the Node or the Python SDK refuses. */
function accumulate(chunks: Row[]): Row[] {
  const found: Array<{ id: string; type: string; name: string; args: string }> = [];
  let role = "";
  for (const { choices } of chunks) {
    for (const { index, delta } of choices as Array<{ index: unknown; delta: Row }>) {
      refuse(index !== 0, "a choice without its index");
      refuse(typeof delta["role"] === "string" && delta["role"] !== "assistant", "an odd role");
      role = (delta["role"] as string | undefined) ?? role;
      for (const call of (delta["tool_calls"] as Row[] | undefined) ?? []) {
        const at = call["index"] as number;
        const body = call["function"] as { name?: string; arguments: string };
        if (found[at] === undefined) {
          refuse(at !== found.length, "a call without its index");
          found.push({ id: call["id"] as string, type: call["type"] as string, name: body.name ?? "", args: "" });
        } else {
          // The Python SDK concatenates text members.
          refuse("id" in call || "name" in body, "a repeated text");
        }
        const known = found[at];
        if (known) known.args += body.arguments;
      }
    }
  }
  return [{ role }, ...found];
}

describe("chunks of servers that imitate OpenAI's API", () => {
  test("P10: accumulate to the clean stream's message, with missing, late or repeated members", () => {
    fc.assert(
      fc.property(calls, faults, (toolCalls, fault) => {
        const repair = new ChunkRepair();
        const repaired = spoil(toolCalls, fault).map((chunk) => repair.repair(chunk));
        expect(accumulate(repaired)).toEqual(accumulate(clean(toolCalls)));
      }),
      { numRuns: 500 },
    );
  });

  test("P10: are returned unchanged if they are valid", () => {
    fc.assert(
      fc.property(calls, (toolCalls) => {
        const repair = new ChunkRepair();
        for (const chunk of clean(toolCalls)) expect(repair.repair(chunk)).toBe(chunk);
      }),
    );
  });

  const call = (members: Row): Row => chunkOf({ tool_calls: [members] });
  const calledIn = (chunks: Row[]): Row[] => {
    const repair = new ChunkRepair();
    return accumulate(chunks.map((chunk) => repair.repair(chunk))).slice(1);
  };

  test.each<[what: string, chunks: Row[]]>([
    [
      "all calls have the index 0",
      [
        call({ index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } }),
        call({ index: 0, id: "b", type: "function", function: { name: "f", arguments: "{}" } }),
      ],
    ],
    [
      "several come in one delta without an index",
      [
        chunkOf({
          tool_calls: [
            { id: "a", type: "function", function: { name: "f", arguments: "{}" } },
            { id: "b", type: "function", function: { name: "f", arguments: "{}" } },
          ],
        }),
      ],
    ],
    [
      "each piece has its own id",
      [
        call({ index: 0, id: "a", type: "function", function: { name: "f", arguments: "{" } }),
        call({ index: 0, id: "x", function: { arguments: "}" } }),
        call({ index: 1, id: "b", type: "function", function: { name: "f", arguments: "{" } }),
        call({ index: 1, id: "y", function: { arguments: "}" } }),
      ],
    ],
    [
      "the name comes after the id",
      [
        call({ index: 0, id: "a", type: "function" }),
        call({ index: 0, function: { name: "f", arguments: "{}" } }),
        call({ index: 1, id: "b", function: {} }),
        call({ index: 1, function: { name: "f" } }),
        call({ index: 1, function: { arguments: "{}" } }),
      ],
    ],
  ])("P10: contain two calls if %s", (_what, chunks) => {
    expect(calledIn(chunks)).toEqual([
      { id: "a", type: "function", name: "f", args: "{}" },
      { id: "b", type: "function", name: "f", args: "{}" },
    ]);
  });
});
