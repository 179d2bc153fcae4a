import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { SkipReporter } from "./server/test/support/skip-reporter.ts";

// Servers that tests start load what others have compiled.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled");

/**
 * Files whose servers run in one process, one after another: to load it again would take as long as many a file. Not those that
 * look at the memory of the process.
 */
const sharing = ["server/test/spec/*.test.ts", "server/test/cases/!(bombs|gateway-disconnects).test.ts"];
/** Takes ten minutes: `npm run test:nodes` says how long. */
const chaos = process.env["SPANWAY_CHAOS_SECONDS"] === undefined ? ["server/test/nodes/**"] : [];
const everywhere = ["{server,scripts,bench,integrations}/**/*.test.ts", "web/src/**/*.test.{ts,tsx}"];

export default defineConfig({
  test: {
    globalSetup: "server/test/support/run-folder.ts",
    pool: "forks",
    // Tests wait for timers much of their time.
    maxWorkers: 3,
    // Of a machine that has much else to do.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
    reporters: ["default", new SkipReporter()],
    projects: [
      { extends: true, test: { name: "sharing a process", include: sharing, isolate: false } },
      {
        extends: true,
        test: { name: "alone", include: everywhere, exclude: [...configDefaults.exclude, ...sharing, ...chaos] },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: ["e2e/**/*.test.ts"],
          globalSetup: ["server/test/support/run-folder.ts", "e2e/support/site-setup.ts"],
          isolate: false,
          expect: { poll: { timeout: 30_000 } },
          // A browser may stall on a busy machine. A first try that failed stays in the output: browserTest prints it.
          retry: process.env["CI"] === undefined ? 0 : 1,
        },
      },
    ],
  },
});
