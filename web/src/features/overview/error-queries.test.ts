import { expect, test } from "vitest";
import { keyOf, messagesOf } from "./error-queries.ts";

const failure = (span_name: string, error_message?: string) => ({ span_name, status_code: 500, error_message });

test("a kind of error has its newest message, and the number of other ones", () => {
  const found = messagesOf([
    failure("book", "Seat 12 is taken"),
    failure("search", "Timeout"),
    failure("book", "Seat 14 is taken"),
    failure("book", "Seat 12 is taken"),
    failure("search", "Timeout"),
  ]);
  expect(found.get(keyOf("book", 500))).toEqual({ message: "Seat 12 is taken", others: 1 });
  expect(found.get(keyOf("search", 500))).toEqual({ message: "Timeout", others: 0 });
  expect(found.has(keyOf("book", 404))).toBe(false);
});
