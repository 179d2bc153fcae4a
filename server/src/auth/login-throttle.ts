import { ServiceError } from "../domain/errors.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import { limits } from "../limits.ts";

/** Bounds how often passwords may be guessed for one account from one address, in this process. */
export type LoginThrottle = {
  /** Counts an attempt, before it is made. Throws `rate_limited` when there were too many. */
  attempt: (email: string, ip: string) => void;
  /** Forgets the failures that a good login ended. */
  succeeded: (email: string, ip: string) => void;
};

type Window = { attempts: number; endsAtMs: number };

export function createLoginThrottle(nowMs: () => number): LoginThrottle {
  const windows = new ExpiringLru<string, Window>({
    maxEntries: limits.loginAddressesTracked,
    ttlMs: limits.loginWindowMs,
    nowMs,
  });
  return {
    attempt: (email, ip) => {
      const key = `${ip} ${email}`;
      const window = windows.get(key) ?? { attempts: 0, endsAtMs: nowMs() + limits.loginWindowMs };
      if (window.attempts >= limits.loginFailures) {
        const retryAfterS = Math.ceil((window.endsAtMs - nowMs()) / 1000);
        throw new ServiceError("rate_limited", "Too many failed logins. Try again later.", { retryAfterS });
      }
      window.attempts += 1;
      if (window.attempts === 1) windows.set(key, window);
    },
    succeeded: (email, ip) => windows.delete(`${ip} ${email}`),
  };
}
