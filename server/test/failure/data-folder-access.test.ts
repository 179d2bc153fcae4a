import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { newDataDir, startServerProcess } from "../support/server-process.ts";

const dataDir = newDataDir();
afterAll(() => dataDir.remove());

const contents = () => readdirSync(dataDir.path, { recursive: true, encoding: "utf8" });
/** Undefined for a file that no longer exists: the engine renames files that it has written. */
const modeOf = (path: string) => statSync(join(dataDir.path, path), { throwIfNoEntry: false })?.mode;
/** Files with any permission for other users. */
const open = () => contents().filter((path) => ((modeOf(path) ?? 0) & 0o077) !== 0);

test("K15: no other user may read what the server stores, including files that an earlier version left readable", async () => {
  const first = await startServerProcess(dataDir.path);
  await first.prod.post("/api/request-logs/", { output: "private" });
  expect(open()).toEqual([]);
  await first.kill("SIGKILL");
  expect(contents()).toEqual(expect.arrayContaining(["control.db", "control.db-wal", "journal", "calls", "spans"]));
  for (const path of ["", ...contents()]) {
    const at = join(dataDir.path, path);
    chmodSync(at, statSync(at).isDirectory() ? 0o777 : 0o666);
  }
  const second = await startServerProcess(dataDir.path);
  await second.prod.post("/api/request-logs/", { output: "private" });
  expect(open()).toEqual([]);
  expect(statSync(dataDir.path).mode & 0o777).toBe(0o700);
  await second.kill("SIGTERM");
});
