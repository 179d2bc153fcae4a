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

test("a hundred failures close every account to the address, and names made up do not push out what was counted", () => {
  const { throttle } = newThrottle();
  for (let made = 0; made < 10; made += 1) throttle.attempt("ada@example.com", "10.0.0.1");
  for (let made = 0; made < 90; made += 1) throttle.attempt(`name${made}@example.com`, "10.0.0.1");
  for (let made = 0; made < 20_000; made += 1)
    expect(() => throttle.attempt(`other${made}@example.com`, "10.0.0.1")).toThrow("Too many failed logins");
  expect(() => throttle.attempt("ada@example.com", "10.0.0.1")).toThrow("Too many failed logins");
  throttle.attempt("ada@example.com", "10.0.0.2");
});

test("good logins do not close the address that many share", () => {
  const { throttle } = newThrottle();
  for (let made = 0; made < 1000; made += 1) {
    throttle.attempt(`name${made}@example.com`, "10.0.0.1");
    throttle.succeeded(`name${made}@example.com`, "10.0.0.1");
  }
  expect(() => throttle.attempt("ada@example.com", "10.0.0.1")).not.toThrow();
});
