import { defineConfig } from "vitest/config";

/** Run from the root: `npm run test:clients`. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["**/*.test.ts"],
    globalSetup: ["support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
