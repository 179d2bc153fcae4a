import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { engineAllocator } from "./engine-allocator.ts";

const arenasSql = "SELECT * FROM system.jemalloc_stats";

test("chDB takes the settings of its allocator from a process that sets them before it is loaded", async () => {
  const program = `process.env.JE_MALLOC_CONF = ${JSON.stringify(engineAllocator)};
    console.log(require("chdb").query(${JSON.stringify(arenasSql)}, "TabSeparatedRaw"));`;
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", program], {
    cwd: import.meta.dirname,
    maxBuffer: 16 * 1024 * 1024,
  });
  expect(/opt\.percpu_arena: "(\w+)"/.exec(stdout)?.[1]).toBe("disabled");
  expect(/opt\.dirty_decay_ms: (\d+)/.exec(stdout)?.[1]).toBe("1000");
  expect(Number(/opt\.narenas: (\d+)/.exec(stdout)?.[1])).toBe(Math.ceil(availableParallelism() / 4));
});
