import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from "node:crypto";
import { promisify } from "node:util";
import { ServiceError } from "../domain/errors.ts";
import { FairGate, GateRefusal } from "../lib/fair-gate.ts";
import { authLimits } from "./limits.ts";

const hashBytes = 32;
const saltBytes = 16;

/** Cost of scrypt: `n` blocks of `128 * r` bytes, `p` times over. */
export type ScryptCost = { n: number; r: number; p: number };

/** 32 MiB and about 0.2 s of one core; the minimum that OWASP's password storage cheat sheet recommends for 32 MiB. */
const defaultCost: ScryptCost = { n: 2 ** 15, r: 8, p: 3 };

/**
 * The party that the hash is queued for: an organization, or the address of an unknown caller. Existing and unknown
 * accounts must not wait in different queues, or the wait would reveal which accounts exist. Aborting the signal
 * removes the entry from the queue.
 */
export type HashTurn = { party: string; signal: AbortSignal | undefined };

export type Passwords = {
  /**
   * The password's hash with its salt and cost. Throws `unavailable` if too many wait already, of this party or in
   * total.
   */
  hash: (password: string, turn?: HashTurn) => Promise<string>;
  /** Takes as long for an unknown account (`stored` undefined) as for a wrong password. Throws `unavailable` as above. */
  verify: (password: string, stored: string | undefined, turn?: HashTurn) => Promise<boolean>;
  /** The number of waiting hashes, and of refused ones so far. */
  stats: () => { waiting: number; refused: number };
  /** The limits of hashes in progress (`places`) and of waiting hashes (`queue`). */
  limits: Pick<FairGate, "places" | "queue">;
};

/**
 * Hashes on Node's worker threads, a few at a time and fairly by party, so that logins starve neither the rest of the
 * process nor other parties.
 */
export function createPasswords(cost: ScryptCost = defaultCost): Passwords {
  const gate = new FairGate({
    maxInFlight: authLimits.passwordHashesInFlight,
    maxWaiting: authLimits.passwordHashesQueued,
    maxWaitMs: authLimits.passwordHashWaitMs,
  });
  let refused = 0;
  type Salted = { salt: Buffer; cost: ScryptCost };
  const derive = async (password: string, { salt, cost: { n, r, p } }: Salted, turn: HashTurn): Promise<Buffer> => {
    const options = { N: n, r, p, maxmem: 256 * n * r };
    try {
      return await gate.run(turn.party, turn.signal, () =>
        scryptAsync(password.normalize("NFKC"), salt, hashBytes, options),
      );
    } catch (error) {
      if (!(error instanceof GateRefusal)) throw error;
      refused += 1;
      throw new ServiceError("unavailable", "Too many logins at once.", { retryAfterS: 2, cause: error });
    }
  };
  const nobody: StoredPassword = { cost, salt: randomBytes(saltBytes), hash: randomBytes(hashBytes) };

  return {
    hash: async (password, turn = operator) => {
      const salt = randomBytes(saltBytes);
      return format({ cost, salt, hash: await derive(password, { salt, cost }, turn) });
    },
    verify: async (password, stored, turn = operator) => {
      const expected = stored === undefined ? nobody : parse(stored);
      return timingSafeEqual(await derive(password, expected, turn), expected.hash);
    },
    stats: () => ({ waiting: gate.waiting, refused }),
    limits: gate,
  };
}

/** At the start and on the command line there is no other party. */
const operator: HashTurn = { party: "", signal: undefined };

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
