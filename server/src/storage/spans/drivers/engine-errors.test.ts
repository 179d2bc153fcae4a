import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../domain/errors.ts";
import { isPoisonBatch } from "../span-store.ts";
import { UnreachableError, asInsertError, asReadError } from "./engine-errors.ts";

const engineError = (code: number, text = "DB::Exception: told") => new Error(`Code: ${code}. ${text}`);

describe("asReadError", () => {
  it.each([158, 159, 160, 241, 307, 396])("calls code %d a query that is too large", (code) => {
    expect(asReadError(engineError(code))).toMatchObject({ code: "query_too_large" });
    expect(asReadError(Object.assign(new Error("told"), { code: String(code) }))).toMatchObject({
      code: "query_too_large",
    });
  });

  it("calls a server that is out of memory, busy or silent unavailable", () => {
    for (const error of [
      engineError(241, "DB::Exception: Memory limit (total) exceeded"),
      engineError(202),
      new UnreachableError(new Error("connect ECONNREFUSED")),
    ]) {
      expect(asReadError(error)).toMatchObject({ code: "unavailable", retryAfterS: 1 });
    }
  });

  it("leaves faults of ours as they are", () => {
    for (const error of [engineError(62), new SyntaxError("Unexpected token"), "text"]) {
      expect(asReadError(error)).toBe(error);
      expect(asReadError(error)).not.toBeInstanceOf(ServiceError);
    }
  });
});

describe("asInsertError", () => {
  it("knows a bad row, and which", () => {
    const error = asInsertError(engineError(27, "DB::Exception: Cannot parse input: (at row 7)"));
    expect(isPoisonBatch(error)).toBe(true);
    expect(error.failedRow).toBe(7);
  });

  it("finds the code in a cause", () => {
    expect(
      isPoisonBatch(
        asInsertError(new Error("wrapped", { cause: Object.assign(new Error("x"), { clickhouseCode: 41 }) })),
      ),
    ).toBe(true);
  });

  it("takes everything else for worth another try", () => {
    for (const error of [engineError(252), engineError(241), engineError(60), new Error("socket hang up"), undefined]) {
      expect(asInsertError(error)).toMatchObject({ kind: "retryable" });
    }
  });
});
