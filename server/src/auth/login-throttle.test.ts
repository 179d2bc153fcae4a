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

test("a successful login resets the count", () => {
  const { throttle } = newThrottle();
  for (let made = 0; made < 9; made += 1) throttle.attempt("ada@example.com", "10.0.0.1");
  throttle.succeeded("ada@example.com", "10.0.0.1");
  for (let made = 0; made < 10; made += 1) throttle.attempt("ada@example.com", "10.0.0.1");
  expect(() => throttle.attempt("ada@example.com", "10.0.0.1")).toThrow("Too many failed logins");
});

test("a hundred failures close every account to the address, and made-up names do not evict the counts", () => {
  const { throttle } = newThrottle();
  for (let made = 0; made < 10; made += 1) throttle.attempt("ada@example.com", "10.0.0.1");
  for (let made = 0; made < 90; made += 1) throttle.attempt(`name${made}@example.com`, "10.0.0.1");
  for (let made = 0; made < 20_000; made += 1)
    expect(() => throttle.attempt(`other${made}@example.com`, "10.0.0.1")).toThrow("Too many failed logins");
  expect(() => throttle.attempt("ada@example.com", "10.0.0.1")).toThrow("Too many failed logins");
  throttle.attempt("ada@example.com", "10.0.0.2");
});

test("successful logins do not close an address that many share", () => {
  const { throttle } = newThrottle();
  for (let made = 0; made < 1000; made += 1) {
    throttle.attempt(`name${made}@example.com`, "10.0.0.1");
    throttle.succeeded(`name${made}@example.com`, "10.0.0.1");
  }
  expect(() => throttle.attempt("ada@example.com", "10.0.0.1")).not.toThrow();
});

test("K11: the addresses of one /64 count as one, those of another do not", () => {
  const { throttle } = newThrottle();
  for (let made = 0; made < 10; made += 1) throttle.attempt("ada@example.com", `2001:db8:1:2:${made}::${made}`);
  expect(() => throttle.attempt("ada@example.com", "2001:DB8:1:2:ffff::1")).toThrow("Too many failed logins");
  throttle.attempt("ada@example.com", "2001:db8:1:3::1");
});

test("K11: guesses from many addresses slow an account down more and more, except for the addresses it signs in from", () => {
  const { clock, throttle } = newThrottle();
  throttle.attempt("ada@example.com", "10.0.0.1");
  throttle.succeeded("ada@example.com", "10.0.0.1");
  let guesses = 0;
  for (let n = 0; n < 3_600; n += 1) {
    clock.ms += 1_000;
    try {
      throttle.attempt("ada@example.com", `10.1.${n >> 8}.${n & 255}`);
      guesses += 1;
    } catch {
      // Refused for now.
    }
  }
  expect(guesses).toBeLessThan(100);
  throttle.attempt("ada@example.com", "10.0.0.1");
  throttle.attempt("bob@example.com", "10.1.0.1");
});
