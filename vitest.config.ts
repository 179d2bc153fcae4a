import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { SkipReporter } from "./server/test/support/skip-reporter.ts";

// Servers that tests start load what others have compiled.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled");

// chDB binds one data directory per process, so every test file gets a process of its own.
export default defineConfig({
  test: {
    include: ["server/**/*.test.ts", "scripts/**/*.test.ts", "bench/**/*.test.ts", "integrations/**/*.test.ts"],
    globalSetup: "server/test/support/run-folder.ts",
    pool: "forks",
    isolate: true,
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    reporters: ["default", new SkipReporter()],
  },
});
