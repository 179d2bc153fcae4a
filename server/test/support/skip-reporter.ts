import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Where a test's or suite's name gives the reason, as in `… (skipped: there is no curl)`. */
const reasonInName = /\(skipped: (.+?)\)/;

/** Ends a run by saying how many tests did not run, and why. Says nothing when all did. */
export class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
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
