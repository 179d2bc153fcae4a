import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { SkipReporter } from "./server/test/support/skip-reporter.ts";

// Servers that tests start load what others have compiled.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled");

/** Files that run in one process, one after another: to load the server again would take as long as many a file. */
const spec = ["server/test/spec/*.test.ts"];
/** Inputs made to break things, and sentences of the interface whose tests wait, or try very many combinations. */
const slowOverHttp = [
  "server/test/cases/*.test.ts",
  "server/test/spec/{alert-evaluation,blocked-organization,edited-groups,fair-shares,gateway-quoted-keys}.test.ts",
  "server/test/spec/{otlp-python,price-files,shared-limits,spans-live,traces-export}.test.ts",
];
const units = ["{server,web}/src/**/*.test.{ts,tsx}"];
/** Files that have a process to themselves: they measure its memory or time, or open the one database that it may have. */
const measuring = [
  "server/src/storage/{journal,spans}/**/*.test.ts",
  "server/src/auth/passwords.test.ts",
  "server/src/evaluation/sandbox/sandbox.test.ts",
  "server/src/http/{body,body-memory}.test.ts",
  "server/src/lib/free-bytes.test.ts",
];
/**
 * Processes that are killed and started again, bounds of time and memory, very large input, random histories, the span
 * store over HTTP and over a cluster, the demo, and every command of the README: `npm run test:slow`.
 */
const slow = [
  "integrations/editor-hook/*.test.ts",
  "scripts/demo/{demo,travel-desk}.test.ts",
  "scripts/walk.test.ts",
  "server/src/counting/span-counter.test.ts",
  "server/src/evaluation/{runner,sandbox/sandbox}.test.ts",
  "server/src/http/{body,body-memory}.test.ts",
  "server/src/ingest/otlp/any-attributes.test.ts",
  "server/src/storage/spans/{cluster,http}-span-store.test.ts",
  "server/src/storage/spans/sums-histories.test.ts",
  "server/src/storage/spans/queries/newest-traces.test.ts",
  "server/test/failure/*.test.ts",
  "server/test/readme.test.ts",
  "server/test/cases/{behind-nginx,bombs,export-memory,gateway-disconnects,giant-traces,moving-spans}.test.ts",
  "server/test/spec/{patches,sign-in-link,spans-export-streams,spans-live-load}.test.ts",
  "server/test/spec/{spans,traces}-timeseries-sums.test.ts",
];
/** Every screen in each theme, in each width, with hostile text, and with requests that fail: `npm run test:slow` too. */
const everyScreen = ["e2e/every-screen/*.test.ts"];
/** What a person does on a screen and over several: `npm run test:slow` too. It changes the data that screens show. */
const journeys = ["e2e/journeys/*.test.ts"];
/** Takes ten minutes: `npm run test:nodes` says how long. */
const nodes = "server/test/nodes/*.test.ts";
const chaos = process.env["SPANWAY_CHAOS_SECONDS"] === undefined ? [nodes] : [];
const elsewhere = ["{server/test,server/scripts,scripts,bench,integrations}/**/*.test.ts", ...measuring];
const overHttp = [...spec, ...slowOverHttp];

const browser = {
  globalSetup: ["server/test/support/run-folder.ts", "e2e/support/site-setup.ts"],
  setupFiles: ["e2e/support/browse-setup.ts"],
  isolate: false,
  expect: { poll: { timeout: 30_000 } },
  // A browser may stall on a busy machine. A first try that failed stays in the output: browserTest prints it.
  retry: process.env["CI"] === undefined ? 0 : 1,
};

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
    reporters: [
      "default",
      new SkipReporter({ "test:slow": [...slow, ...slowOverHttp, ...everyScreen, ...journeys], "test:nodes": [nodes] }),
    ],
    projects: [
      {
        extends: true,
        test: { name: "over HTTP", include: spec, exclude: [...slowOverHttp, ...slow], isolate: false },
      },
      { extends: true, test: { name: "units", include: units, exclude: [...measuring, ...slow], isolate: false } },
      {
        extends: true,
        test: {
          name: "alone",
          include: elsewhere,
          exclude: [...configDefaults.exclude, ...overHttp, ...slow, ...chaos],
        },
      },
      { extends: true, test: { name: "slow", include: slow } },
      { extends: true, test: { name: "slow over HTTP", include: slowOverHttp, exclude: slow, isolate: false } },
      { extends: true, test: { ...browser, name: "browser", include: ["e2e/*.test.ts"] } },
      { extends: true, test: { ...browser, name: "slow screens", include: everyScreen } },
      { extends: true, test: { ...browser, name: "slow journeys", include: journeys } },
    ],
  },
});
