import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readNodeId } from "./node-id.ts";

test("a folder keeps its id, also one of an earlier version; a copy gets another id", () => {
  const folder = mkdtempSync(join(tmpdir(), "spanway-node-id-"));
  const path = join(folder, "node.id");
  const id = readNodeId(path);
  expect(readNodeId(path)).toBe(id);
  const copy = join(folder, "copy");
  cpSync(path, copy);
  const copied = readNodeId(copy);
  expect(copied).toMatch(/^\w{12,}$/);
  expect(copied).not.toBe(id);
  expect(readNodeId(copy)).toBe(copied);
  const earlier = join(folder, "earlier");
  writeFileSync(earlier, "abcdefghijkl0123\n");
  expect(readNodeId(earlier)).toBe("abcdefghijkl0123");
  expect(readNodeId(earlier)).toBe("abcdefghijkl0123");
  writeFileSync(earlier, "half");
  expect(readNodeId(earlier)).toMatch(/^\w{12,}$/);
  rmSync(folder, { recursive: true });
});
