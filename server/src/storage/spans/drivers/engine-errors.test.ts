import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../domain/errors.ts";
import { isPoisonBatch } from "../span-store.ts";
import { UnreachableError, asInsertError, asReadError } from "./engine-errors.ts";

const engineError = (code: number, text = "DB::Exception: told") => new Error(`Code: ${code}. ${text}`);

describe("asReadError", () => {
  it.each([158, 159, 160, 241, 307, 396])("maps code %d to query_too_large", (code) => {
    expect(asReadError(engineError(code))).toMatchObject({ code: "query_too_large" });
    expect(asReadError(Object.assign(new Error("told"), { code: String(code) }))).toMatchObject({
      code: "query_too_large",
    });
  });

  it("maps a server that is out of memory, busy or silent to unavailable", () => {
    for (const error of [
      engineError(241, "DB::Exception: Memory limit (total) exceeded"),
      engineError(202),
      new UnreachableError(new Error("connect ECONNREFUSED")),
    ]) {
      expect(asReadError(error)).toMatchObject({ code: "unavailable", retryAfterS: 1 });
    }
  });

  it("returns our own errors unchanged", () => {
    for (const error of [engineError(62), new SyntaxError("Unexpected token"), "text"]) {
      expect(asReadError(error)).toBe(error);
      expect(asReadError(error)).not.toBeInstanceOf(ServiceError);
    }
  });
});

describe("asInsertError", () => {
  it("recognizes a bad row and its number", () => {
    const error = asInsertError(engineError(27, "DB::Exception: Cannot parse input: (at row 7)"));
    expect(isPoisonBatch(error)).toBe(true);
    expect(error.failedRow).toBe(7);
  });

  it("finds the error code in a cause", () => {
    expect(
      isPoisonBatch(
        asInsertError(new Error("wrapped", { cause: Object.assign(new Error("x"), { clickhouseCode: 41 }) })),
      ),
    ).toBe(true);
  });

  it("treats everything else as retryable", () => {
    for (const error of [engineError(252), engineError(241), engineError(60), new Error("socket hang up"), undefined]) {
      expect(asInsertError(error)).toMatchObject({ kind: "retryable" });
    }
  });
});
