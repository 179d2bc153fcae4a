import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { openSpanStore } from "./clickhouse-span-store.ts";
import { describeSpanStore } from "./contract/span-store-contract.ts";

const path = mkdtempSync(join(tmpdir(), "spanway-spans-"));
afterAll(() => rmSync(path, { recursive: true, force: true }));

describeSpanStore(
  "chDB in the process",
  (bounds = {}) => openSpanStore({ kind: "chdb", path }, { bounds, sumsFromSpans: 0 }),
  "everything",
);
