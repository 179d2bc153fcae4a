import { expect, test } from "vitest";
import { createLoginThrottle } from "./login-throttle.ts";

function newThrottle() {
  const clock = { ms: 1_000_000 };
  return { clock, throttle: createLoginThrottle(() => clock.ms) };
}

test("ten failures from one address close one account to it for the rest of the quarter of an hour", () => {
  const { clock, throttle } = newThrottle();
  for (let made = 0; made < 10; made += 1) throttle.attempt("ada@example.com", "10.0.0.1");
  clock.ms += 60_000;
  expect(() => throttle.attempt("ada@example.com", "10.0.0.1")).toThrow(
    expect.objectContaining({ code: "rate_limited", retryAfterS: 14 * 60 }),
  );
  throttle.attempt("ada@example.com", "10.0.0.2");
  throttle.attempt("bob@example.com", "10.0.0.1");
  clock.ms += 14 * 60_000;
  throttle.attempt("ada@example.com", "10.0.0.1");
});

test("a good login starts the count anew", () => {
  const { throttle } = newThrottle();
  for (let made = 0; made < 9; made += 1) throttle.attempt("ada@example.com", "10.0.0.1");
  throttle.succeeded("ada@example.com", "10.0.0.1");
  for (let made = 0; made < 10; made += 1) throttle.attempt("ada@example.com", "10.0.0.1");
  expect(() => throttle.attempt("ada@example.com", "10.0.0.1")).toThrow("Too many failed logins");
});
