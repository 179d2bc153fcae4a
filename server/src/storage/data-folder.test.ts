import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { closeToOthers, openDataFolder, restoreMark } from "./data-folder.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "spanway-folder-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("creates a missing folder for its owner only, and leaves nothing in it", () => {
  const path = join(dir, "a", "b");
  openDataFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(readdirSync(path)).toEqual([]);
});

test.each([
  ["a file", "file", "it is a file"],
  ["below a file", "file/data", "part of the path is a file"],
])("refuses a path that is %s, with its name and a remedy", (_, name, reason) => {
  writeFileSync(join(dir, "file"), "");
  const path = join(dir, name);
  expect(() => openDataFolder(path)).toThrow(`The data folder ${path} cannot be used: ${reason}.`);
  expect(() => openDataFolder(path)).toThrow("SPANWAY_DATA_DIR");
});

test.skipIf(process.platform !== "linux")(
  "reports a file system that allows no folders, also for paths below it",
  () => {
    for (const path of ["/proc/spanway", "/proc/spanway/data"]) {
      expect(() => openDataFolder(path)).toThrow(`The data folder ${path} cannot be used: `);
    }
  },
);

test("refuses a folder whose restore was interrupted, until it is deleted", () => {
  writeFileSync(join(dir, restoreMark), "");
  expect(() => openDataFolder(dir)).toThrow("Delete it and restore the backup again.");
  rmSync(dir, { recursive: true });
  openDataFolder(dir);
});

// Root can write to every folder.
test.skipIf(process.getuid?.() === 0)("a folder of somebody else is refused", () => {
  const path = join(dir, "locked");
  mkdirSync(path);
  chmodSync(path, 0o500);
  expect(() => openDataFolder(path)).toThrow("this user may not write there");
});

describe("K15: an existing folder", () => {
  const modeOf = (path: string) => statSync(path).mode & 0o777;
  const write = (path: string) => {
    writeFileSync(path, "");
    chmodSync(path, 0o666);
    return path;
  };
  const makeFolder = (path: string) => {
    mkdirSync(path);
    chmodSync(path, 0o777);
    return path;
  };

  test("is closed to others with everything in it, except targets of links", () => {
    const outside = write(join(dir, "outside"));
    const folder = makeFolder(join(dir, "data"));
    const inner = makeFolder(join(folder, "journal"));
    const files = [write(join(folder, "control.db-wal")), write(join(inner, "data.mdb"))];
    symlinkSync(outside, join(inner, "link"));
    symlinkSync(dir, join(inner, "up"));
    symlinkSync(join(dir, "nowhere"), join(inner, "broken"));
    expect(closeToOthers(folder)).toEqual({ refused: [] });
    expect([folder, inner].map(modeOf)).toEqual([0o700, 0o700]);
    expect(files.map(modeOf)).toEqual([0o600, 0o600]);
    expect(modeOf(outside)).toBe(0o666);
  });

  test("with very many files takes bounded work, and no file is accessible to others", () => {
    const folder = makeFolder(join(dir, "data"));
    const parts = makeFolder(join(folder, "spans"));
    for (let part = 0; part < 50; part += 1) write(join(parts, String(part)));
    closeToOthers(folder, 10);
    expect([folder, parts].map(modeOf)).toEqual([0o700, 0o700]);
  });
});
