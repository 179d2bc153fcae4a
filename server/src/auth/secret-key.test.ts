import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Secret } from "../lib/secret.ts";
import { deriveKey, loadSecretKey } from "./secret-key.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "spanway-secret-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a missing key is created, readable only by its owner, and found again", () => {
  const path = join(folder, "data", "secret.key");
  const made = loadSecretKey(path, undefined);
  expect(made.reveal()).toMatch(/^[\w-]{43}$/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(loadSecretKey(path, undefined).reveal()).toBe(made.reveal());
  expect(readdirSync(join(folder, "data"))).toEqual(["secret.key"]);
});

test("two instances have different keys", () => {
  const first = loadSecretKey(join(folder, "a"), undefined);
  expect(loadSecretKey(join(folder, "b"), undefined).reveal()).not.toBe(first.reveal());
});

test("a configured key needs no file", () => {
  const path = join(folder, "secret.key");
  expect(loadSecretKey(path, new Secret("configured")).reveal()).toBe("configured");
  expect(readdirSync(folder)).toEqual([]);
});

test.each(["", "short\n"])("a damaged file (%j) is reported, not replaced", (content) => {
  const path = join(folder, "secret.key");
  writeFileSync(path, content);
  expect(() => loadSecretKey(path, undefined)).toThrow(/secret\.key is damaged/);
  expect(readFileSync(path, "utf8")).toBe(content);
});

test("threads that start at the same moment get the same key", async () => {
  const path = join(folder, "secret.key");
  const module = new URL("./secret-key.ts", import.meta.url).href;
  const code = `
    import { parentPort } from "node:worker_threads";
    import { loadSecretKey } from ${JSON.stringify(module)};
    parentPort.postMessage("ready");
    parentPort.once("message", () => parentPort.postMessage(loadSecretKey(${JSON.stringify(path)}, undefined).reveal()));
  `;
  const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const workers = Array.from({ length: 4 }, () => new Worker(url));
  await Promise.all(workers.map((worker) => once(worker, "message")));
  const answers = workers.map((worker) => once(worker, "message"));
  for (const worker of workers) worker.postMessage("go");
  const keys = (await Promise.all(answers)).flat();
  expect(keys).toHaveLength(4);
  expect(new Set(keys)).toEqual(new Set([readFileSync(path, "utf8").trim()]));
});

test("keys derived for two purposes differ, for one purpose they are equal", () => {
  const secret = new Secret("one secret");
  expect(deriveKey(secret, "a")).toEqual(deriveKey(secret, "a"));
  expect(deriveKey(secret, "a")).not.toEqual(deriveKey(secret, "b"));
  expect(deriveKey(secret, "a")).not.toEqual(deriveKey(new Secret("another"), "a"));
  expect(deriveKey(secret, "a")).toHaveLength(32);
});
