import { Session } from "chdb";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { bindLiterals } from "./bind-literals.ts";

const engine = new Session();
afterAll(() => engine.close());

async function select(sql: string, params: Record<string, string | readonly string[]>): Promise<unknown> {
  const bound = bindLiterals(`SELECT ${sql} AS value SETTINGS output_format_json_quote_64bit_integers = 1`, params);
  const result = await engine.queryAsync(bound, { format: "JSON" });
  return result.json<{ data: { value: unknown }[] }>().data[0]?.value;
}

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom("'", "\\", "\0", "\n", "{", "}", "`", "--", "é", "😀", "N"),
    fc.string({ unit: "grapheme", maxLength: 2 }),
  ),
});

describe("bindLiterals", () => {
  it("passes any text to the engine unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        expect(await select("{a:String}", { a: text })).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  it("passes any list to the engine unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyText), async (list) => {
        expect(await select("{a:Array(String)}", { a: list })).toEqual(list);
      }),
      { numRuns: 200 },
    );
  });

  it("casts to the type of the placeholder", async () => {
    expect(await select("{a:Int64} + 1", { a: "9007199254740993" })).toBe("9007199254740994");
    expect(await select("{a:Float64}", { a: "2.5" })).toBe(2.5);
    expect(await select("{a:Array(Float64)}", { a: "[1.5,2]" })).toEqual([1.5, 2]);
    const time = "2026-05-05 05:05:05.123456789";
    expect(await select("{a:DateTime64(9, 'UTC')}", { a: time })).toBe(time);
    expect(await select("{a:Array(UUID)}", { a: ["6fa459ea-ee8a-4ca4-894e-db77e160355e"] })).toEqual([
      "6fa459ea-ee8a-4ca4-894e-db77e160355e",
    ]);
  });

  it("writes values as hexadecimal digits only", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(bindLiterals("{a:String}", { a: text })).toMatch(/^(''|unhex\('[0-9A-F]*'\))$/);
      }),
    );
  });

  it("throws if a parameter has no value", () => {
    expect(() => bindLiterals("{a:String}", {})).toThrow("parameter a");
    expect(() => bindLiterals("{toString:String}", {})).toThrow("parameter toString");
  });
});
