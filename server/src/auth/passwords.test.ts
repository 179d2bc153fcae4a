import { describe, expect, test } from "vitest";
import { createPasswords } from "./passwords.ts";

const quick = { n: 2 ** 10, r: 8, p: 1 };

describe("passwords", () => {
  const passwords = createPasswords(quick);

  test("only the right one fits", async () => {
    const stored = await passwords.hash("correct horse");
    expect(await passwords.verify("correct horse", stored)).toBe(true);
    expect(await passwords.verify("correct horse ", stored)).toBe(false);
    expect(await passwords.verify("", stored)).toBe(false);
  });

  test("fit however the keyboard composes their letters", async () => {
    const stored = await passwords.hash("caf\u00e9");
    expect(await passwords.verify("cafe\u0301", stored)).toBe(true);
  });

  test("the same one is stored differently each time, and never as it is", async () => {
    const first = await passwords.hash("correct horse");
    expect(await passwords.hash("correct horse")).not.toBe(first);
    expect(first).not.toContain("correct");
  });

  test("hashes of an older cost still fit", async () => {
    const stored = await createPasswords({ n: 2 ** 11, r: 4, p: 2 }).hash("correct horse");
    expect(await passwords.verify("correct horse", stored)).toBe(true);
    expect(await passwords.verify("wrong horse", stored)).toBe(false);
  });

  test("nobody's password is always wrong", async () => {
    expect(await passwords.verify("", undefined)).toBe(false);
    expect(await passwords.verify("correct horse", undefined)).toBe(false);
  });

  test("a stored hash of unknown form is a fault, not a wrong password", async () => {
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

test("a crowd is turned away instead of being queued without end", async () => {
  const passwords = createPasswords(quick);
  const results = await Promise.allSettled(Array.from({ length: 100 }, () => passwords.hash("x")));
  const refused = results.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(100 - 34);
  expect(refused[0]).toMatchObject({ reason: { code: "unavailable" } });
  await expect(passwords.hash("x")).resolves.toMatch(/^scrypt/);
});
