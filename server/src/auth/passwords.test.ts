import { describe, expect, test } from "vitest";
import { authLimits } from "./limits.ts";
import { createPasswords } from "./passwords.ts";

const quick = { n: 2 ** 10, r: 8, p: 1 };

describe("passwords", () => {
  const passwords = createPasswords(quick);

  test("only the right one matches", async () => {
    const stored = await passwords.hash("correct horse");
    expect(await passwords.verify("correct horse", stored)).toBe(true);
    expect(await passwords.verify("correct horse ", stored)).toBe(false);
    expect(await passwords.verify("", stored)).toBe(false);
  });

  test("match however the keyboard composes their letters", async () => {
    const stored = await passwords.hash("caf\u00e9");
    expect(await passwords.verify("cafe\u0301", stored)).toBe(true);
  });

  test("the same one is stored differently each time, and never in plain text", async () => {
    const first = await passwords.hash("correct horse");
    expect(await passwords.hash("correct horse")).not.toBe(first);
    expect(first).not.toContain("correct");
  });

  test("hashes of an older cost still match", async () => {
    const stored = await createPasswords({ n: 2 ** 11, r: 4, p: 2 }).hash("correct horse");
    expect(await passwords.verify("correct horse", stored)).toBe(true);
    expect(await passwords.verify("wrong horse", stored)).toBe(false);
  });

  test("the password of an unknown account is always wrong", async () => {
    expect(await passwords.verify("", undefined)).toBe(false);
    expect(await passwords.verify("correct horse", undefined)).toBe(false);
  });

  test("a stored hash of unknown form is an error, not a wrong password", async () => {
    await expect(passwords.verify("x", "bcrypt$…")).rejects.toThrow("not in a known form");
  });
});

test("an unknown account costs as much as a wrong password", async () => {
  const passwords = createPasswords();
  const stored = await passwords.hash("correct horse");
  const cpuMs = async (stored: string | undefined) => {
    const before = process.cpuUsage();
    await passwords.verify("wrong horse", stored);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const known = Math.min(await cpuMs(stored), await cpuMs(stored));
  const unknown = Math.min(await cpuMs(undefined), await cpuMs(undefined));
  expect(unknown).toBeGreaterThan(known / 3);
});

test("too many logins are refused instead of queued without bound", async () => {
  const passwords = createPasswords(quick);
  const results = await Promise.allSettled(Array.from({ length: 400 }, () => passwords.hash("x")));
  const refused = results.filter(({ status }) => status === "rejected");
  // One party may use four fifths of the queue.
  const taken = authLimits.passwordHashesInFlight + Math.ceil((authLimits.passwordHashesQueued * 4) / 5);
  expect(refused).toHaveLength(400 - taken);
  expect(passwords.stats()).toEqual({ waiting: 0, refused: refused.length });
  expect(refused[0]).toMatchObject({ reason: { code: "unavailable" } });
  await expect(passwords.hash("x")).resolves.toMatch(/^scrypt/);
});

test("many logins of one party delay another party's login by one round, and leave the queue when their clients disconnect", async () => {
  const passwords = createPasswords(quick);
  const leaving = new AbortController();
  let done = 0;
  const hog = Array.from({ length: 300 }, async () => {
    await passwords.verify("x", undefined, { party: "hog", signal: leaving.signal });
    done += 1;
  });
  const crowd = Promise.allSettled(hog);
  await new Promise((resolve) => setImmediate(resolve));
  expect(passwords.stats().refused).toBeGreaterThan(90);

  const before = done;
  await passwords.hash("x", { party: "guest", signal: undefined });
  // The hashes that ran when it arrived, and one round of the other party's.
  expect(done - before).toBeLessThanOrEqual(2 * authLimits.passwordHashesInFlight);
  leaving.abort();
  await crowd;
  expect(passwords.stats().waiting).toBe(0);
  expect(done).toBeLessThan(20);
});
