import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDataFolder } from "./data-folder.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "spanway-folder-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("a missing folder is made, for its owner alone, and nothing is left in it", () => {
  const path = join(dir, "a", "b");
  openDataFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(readdirSync(path)).toEqual([]);
});

test.each([
  ["a file", "file", "it is a file"],
  ["below a file", "file/data", "part of the path is a file"],
])("a path that is %s is refused by name, with what to do", (_, name, reason) => {
  writeFileSync(join(dir, "file"), "");
  const path = join(dir, name);
  expect(() => openDataFolder(path)).toThrow(`The data folder ${path} cannot be used: ${reason}.`);
  expect(() => openDataFolder(path)).toThrow("SPANWAY_DATA_DIR");
});

test.skipIf(process.platform !== "linux")("a file system that takes no folders is told, also below it", () => {
  for (const path of ["/proc/spanway", "/proc/spanway/data"]) {
    expect(() => openDataFolder(path)).toThrow(`The data folder ${path} cannot be used: `);
  }
});

// To root every folder is writable.
test.skipIf(process.getuid?.() === 0)("a folder of somebody else is refused", () => {
  const path = join(dir, "locked");
  mkdirSync(path);
  chmodSync(path, 0o500);
  expect(() => openDataFolder(path)).toThrow("this user may not write there");
});
