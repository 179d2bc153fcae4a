import { globSync } from "node:fs";
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

/** Finds the reason in the name of a test or suite, as in `… (skipped: there is no curl)`. */
const reasonInName = /\(skipped: (.+?)\)/;

/** Prints at the end of a run how many tests did not run, and why; for `npm test` also which files run with other commands. */
export class SkipReporter implements Reporter {
  readonly #commands: Record<string, string[]>;
  #isPlain = false;

  /** @param commands patterns of the files that `npm test` leaves out, by the command that runs them */
  constructor(commands: Record<string, string[]>) {
    this.#commands = commands;
  }

  onInit(vitest: Vitest): void {
    this.#isPlain = vitest.config.project.includes("!slow*");
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const leftOut = this.#isPlain ? Object.entries(this.#commands) : [];
    for (const [command, patterns] of leftOut) {
      const { length } = globSync(patterns);
      console.log(`Not run: ${length} ${length === 1 ? "file" : "files"} (npm run ${command}).`);
    }
    const counts = new Map<string, number>();
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        const reason = reasonOf(test);
        counts.set(reason, (counts.get(reason) ?? 0) + 1);
      }
    }
    for (const [reason, count] of counts)
      console.log(`Not run: ${count} ${count === 1 ? "test" : "tests"} (${reason}).`);
  }
}

function reasonOf(test: TestCase): string {
  const { note } = test.result() as { note?: string };
  return reasonInName.exec(test.fullName)?.[1] ?? note ?? "no reason given";
}
