import { ServiceError } from "../domain/errors.ts";
import { addressKey } from "../http/rate-limit.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { authLimits } from "./limits.ts";

/**
 * Limits password guesses in this process: for one account from one address, from one address for all accounts, and, by
 * growing waits, for one account from all addresses. An IPv6 address counts as its /64, which one customer usually has
 * as a whole.
 */
export type LoginThrottle = {
  /** Counts an attempt before it is made. Throws `rate_limited` after too many. */
  attempt: (email: string, ip: string) => void;
  /** Resets the failures of this account and address after a successful login. */
  succeeded: (email: string, ip: string) => void;
};

type Window = { attempts: number; endsAtMs: number };
type Slowdown = { attempts: number; nextAtMs: number };

export function createLoginThrottle(nowMs: () => number): LoginThrottle {
  const options = { maxEntries: authLimits.loginAddressesTracked, ttlMs: authLimits.loginWindowMs, nowMs };
  const ofAccounts = new ExpiringLru<string, Window>(options);
  const ofAddresses = new ExpiringLru<string, Window>(options);
  const slowdowns = new ExpiringLru<string, Slowdown>(options);
  // Attempts from elsewhere do not slow the addresses from which an account signs in.
  const familiar = new ExpiringLru<string, true>({ ...options, ttlMs: authLimits.loginFamiliarMs });

  const windowOf = (windows: ExpiringLru<string, Window>, key: string, most: number): Window => {
    const window = windows.get(key) ?? { attempts: 0, endsAtMs: nowMs() + authLimits.loginWindowMs };
    if (window.attempts < most) return window;
    throw tooMany(window.endsAtMs - nowMs());
  };
  const count = (windows: ExpiringLru<string, Window>, key: string, window: Window): void => {
    window.attempts += 1;
    if (window.attempts === 1) windows.set(key, window);
  };
  const slow = (email: string): void => {
    const slowdown = slowdowns.get(email) ?? { attempts: 0, nextAtMs: 0 };
    if (slowdown.nextAtMs > nowMs()) throw tooMany(slowdown.nextAtMs - nowMs());
    slowdown.attempts += 1;
    const surplus = slowdown.attempts - authLimits.loginFailuresUnslowed;
    if (surplus >= 0) slowdown.nextAtMs = nowMs() + Math.min(1_000 * 2 ** surplus, authLimits.loginSlowdownMaxMs);
    slowdowns.set(email, slowdown);
  };

  return {
    attempt: (email, ip) => {
      const place = addressKey(ip);
      const address = windowOf(ofAddresses, place, authLimits.loginFailuresPerAddress);
      const account = windowOf(ofAccounts, `${place} ${email}`, authLimits.loginFailures);
      if (familiar.get(`${place} ${email}`) === undefined) slow(email);
      count(ofAddresses, place, address);
      count(ofAccounts, `${place} ${email}`, account);
    },
    succeeded: (email, ip) => {
      const place = addressKey(ip);
      ofAccounts.delete(`${place} ${email}`);
      familiar.set(`${place} ${email}`, true);
      const slowdown = slowdowns.get(email);
      if (slowdown !== undefined) slowdown.attempts -= 1;
      const address = ofAddresses.get(place);
      if (address !== undefined) address.attempts -= 1;
    },
  };
}

function tooMany(waitMs: number): ServiceError {
  const retryAfterS = Math.ceil(waitMs / 1000);
  return new ServiceError("rate_limited", "Too many failed logins. Try again later.", { retryAfterS });
}
