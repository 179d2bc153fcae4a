import { ServiceError } from "../domain/errors.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { limits } from "../limits.ts";

/**
 * Bounds how often passwords may be guessed, in this process: for one account from one address, and from one address for
 * all accounts together, so that neither trying many accounts nor making up names to push out what is counted gets further.
 */
export type LoginThrottle = {
  /** Counts an attempt, before it is made. Throws `rate_limited` when there were too many. */
  attempt: (email: string, ip: string) => void;
  /** Forgets the failures that a good login ended. */
  succeeded: (email: string, ip: string) => void;
};

type Window = { attempts: number; endsAtMs: number };

export function createLoginThrottle(nowMs: () => number): LoginThrottle {
  const options = { maxEntries: limits.loginAddressesTracked, ttlMs: limits.loginWindowMs, nowMs };
  const ofAccounts = new ExpiringLru<string, Window>(options);
  const ofAddresses = new ExpiringLru<string, Window>(options);

  const windowOf = (windows: ExpiringLru<string, Window>, key: string, most: number): Window => {
    const window = windows.get(key) ?? { attempts: 0, endsAtMs: nowMs() + limits.loginWindowMs };
    if (window.attempts < most) return window;
    const retryAfterS = Math.ceil((window.endsAtMs - nowMs()) / 1000);
    throw new ServiceError("rate_limited", "Too many failed logins. Try again later.", { retryAfterS });
  };
  const count = (windows: ExpiringLru<string, Window>, key: string, window: Window): void => {
    window.attempts += 1;
    if (window.attempts === 1) windows.set(key, window);
  };

  return {
    attempt: (email, ip) => {
      const address = windowOf(ofAddresses, ip, limits.loginFailuresPerAddress);
      const account = windowOf(ofAccounts, `${ip} ${email}`, limits.loginFailures);
      count(ofAddresses, ip, address);
      count(ofAccounts, `${ip} ${email}`, account);
    },
    succeeded: (email, ip) => {
      ofAccounts.delete(`${ip} ${email}`);
      const address = ofAddresses.get(ip);
      if (address !== undefined) address.attempts -= 1;
    },
  };
}
