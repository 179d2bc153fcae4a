import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runAdmin } from "../../src/admin/run-admin.ts";
import { createPasswords } from "../../src/auth/passwords.ts";
import type { ControlStores } from "../../src/storage/control/control-stores.ts";
import { openDatabase } from "../../src/storage/journal/journal-database.ts";
import { lockNode } from "../../src/storage/journal/node-lock.ts";
import { createWithQuarantine, type WithQuarantine } from "../../src/storage/journal/quarantine.ts";
import { openMemoryControl } from "../support/memory-control.ts";

/** What an operator does with rows that the span store refused. */
const passwords = createPasswords({ n: 2 ** 10, r: 8, p: 1 });
const nowMs = Date.now;
let stores: ControlStores;
let closeStores: () => Promise<void>;
let folder: string;
let withQuarantine: WithQuarantine;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spanway-quarantine-"));
  await openDatabase(join(folder, "journal")).close();
  withQuarantine = createWithQuarantine({ dataDir: folder, journalPath: join(folder, "journal") });
  ({ stores, close: closeStores } = await openMemoryControl());
});
afterAll(async () => {
  await closeStores();
  await rm(folder, { recursive: true, force: true });
});

const recomputeUsage = () => Promise.reject(new Error("opened a store for nothing"));
const [listUnpriced, acceptSecretKey] = [recomputeUsage, recomputeUsage];
const open = async () => ({
  context: { stores, passwords, nowMs, withQuarantine, recomputeUsage, listUnpriced, acceptSecretKey },
  close: async () => {},
});
const run = (line: string) => runAdmin(line.split(" "), open);
const runJson = async (line: string): Promise<unknown> => JSON.parse((await run(`${line} --json`)).stdout);

const refused = [`{"row":"a"}`, `{"row":"b"}`];
const entries = async () => JSON.parse((await run("quarantine list --json")).stdout) as Array<Record<string, unknown>>;
beforeEach(async () => {
  await run("quarantine drop --all");
  await withQuarantine(async (quarantine) => {
    for (const row of refused) await quarantine.add(Buffer.from(`${row}\n`), `no ${row}`);
  });
});

test("single entries of the quarantine are listed, exported and dropped", async () => {
  const listed = await entries();
  expect(listed).toMatchObject(refused.map((row) => ({ bytes: 12, reason: `no ${row}` })));
  const id = String(listed[1]?.["entry"]);
  expect(await run(`quarantine export --entry ${id}`)).toEqual({ code: 0, stdout: refused[1], stderr: "" });
  expect(await runJson(`quarantine drop --entry ${id}`)).toEqual({ dropped: 1 });
  expect(await entries()).toEqual(listed.slice(0, 1));
  expect(await run(`quarantine export --entry ${id}`)).toMatchObject({ code: 1 });
  expect(await runJson("quarantine drop --all")).toEqual({ dropped: 1 });
  expect((await run("quarantine list")).stdout).toBe("None.");
});

test("dropping from the quarantine requires the names of the entries", async () => {
  expect(await run("quarantine drop")).toMatchObject({ code: 2 });
  expect(await entries()).toHaveLength(2);
});

test("the quarantine is not created without a journal", async () => {
  const elsewhere = createWithQuarantine({ dataDir: folder, journalPath: join(folder, "mistyped") });
  const context = {
    stores,
    passwords,
    nowMs,
    recomputeUsage,
    listUnpriced,
    acceptSecretKey,
    withQuarantine: elsewhere,
  };
  const outcome = await runAdmin(["quarantine", "list"], async () => ({ context, close: async () => {} }));
  expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no journal") });
  expect(existsSync(join(folder, "mistyped"))).toBe(false);
});

test("the quarantine is not changed while a server runs", async () => {
  const lock = lockNode(join(folder, "node.lock"));
  const { code, stderr } = await run("quarantine list");
  lock.release();
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("Stop the server first") });
});
