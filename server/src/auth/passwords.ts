import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from "node:crypto";
import { promisify } from "node:util";
import { ServiceError } from "../domain/errors.ts";
import { WorkGate } from "../lib/work-gate.ts";
import { limits } from "../limits.ts";

const hashBytes = 32;
const saltBytes = 16;

/** Cost of scrypt: `n` blocks of `128 * r` bytes, `p` times over. */
export type ScryptCost = { n: number; r: number; p: number };

/** 32 MiB and about 0.2 s of one core; the least that OWASP's password storage cheat sheet advises for 32 MiB. */
const defaultCost: ScryptCost = { n: 2 ** 15, r: 8, p: 3 };

export type Passwords = {
  /** The password's hash with its salt and cost. Throws `unavailable` when too many wait already. */
  hash: (password: string) => Promise<string>;
  /** Takes as long for an unknown account (`stored` undefined) as for a wrong password. Throws `unavailable` as above. */
  verify: (password: string, stored: string | undefined) => Promise<boolean>;
};

/** Hashes on Node's worker threads, a few at a time, so that logins cannot starve the rest of the process. */
export function createPasswords(cost: ScryptCost = defaultCost): Passwords {
  const gate = new WorkGate({ maxInFlight: limits.passwordHashesInFlight, maxQueued: limits.passwordHashesQueued });
  const derive = (password: string, salt: Buffer, { n, r, p }: ScryptCost): Promise<Buffer> => {
    const options = { N: n, r, p, maxmem: 256 * n * r };
    const derived = gate.run(() => scryptAsync(password.normalize("NFKC"), salt, hashBytes, options));
    if (derived === undefined) throw new ServiceError("unavailable", "Too many logins at once.", { retryAfterS: 2 });
    return derived;
  };
  const nobody: StoredPassword = { cost, salt: randomBytes(saltBytes), hash: randomBytes(hashBytes) };

  return {
    hash: async (password) => {
      const salt = randomBytes(saltBytes);
      return format({ cost, salt, hash: await derive(password, salt, cost) });
    },
    verify: async (password, stored) => {
      const expected = stored === undefined ? nobody : parse(stored);
      return timingSafeEqual(await derive(password, expected.salt, expected.cost), expected.hash);
    },
  };
}

type StoredPassword = { cost: ScryptCost; salt: Buffer; hash: Buffer };

function format({ cost: { n, r, p }, salt, hash }: StoredPassword): string {
  return `scrypt$${n},${r},${p}$${salt.toString("base64url")}$${hash.toString("base64url")}`;
}

function parse(stored: string): StoredPassword {
  const [, n, r, p, salt, hash] = /^scrypt\$(\d+),(\d+),(\d+)\$([\w-]+)\$([\w-]{43})$/.exec(stored) ?? [];
  if (salt === undefined || hash === undefined) throw new Error("A stored password hash is not in a known form");
  return {
    cost: { n: Number(n), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, "base64url"),
    hash: Buffer.from(hash, "base64url"),
  };
}

const scryptAsync: (password: string, salt: Buffer, bytes: number, options: ScryptOptions) => Promise<Buffer> =
  promisify(scrypt);
