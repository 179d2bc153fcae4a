// Prints `N passed, N failed`, and `, N skipped` where there are any, from vitest's JSON reports, those that exist. A file
// that could not even be loaded holds no tests, but counts as one that failed; so does a run that failed without a failed
// test. Usage: tally.mjs passed|failed REPORT…
import { existsSync, readFileSync } from "node:fs";

const [outcome, ...paths] = process.argv.slice(2);
const reports = paths.filter((path) => existsSync(path)).map((path) => JSON.parse(readFileSync(path, "utf8")));
if (reports.length === 0) throw new Error("no test ran");
const sum = (countOf) => reports.reduce((total, report) => total + countOf(report), 0);
const isBroken = (file) => file.status === "failed" && file.assertionResults.length === 0;
const failed = sum((report) => report.numFailedTests + report.testResults.filter(isBroken).length);
const skipped = sum((report) => report.numPendingTests + report.numTodoTests);
const parts = [
  `${sum((report) => report.numPassedTests)} passed`,
  `${Math.max(failed, outcome === "failed" ? 1 : 0)} failed`,
];
if (skipped > 0) parts.push(`${skipped} skipped`);
console.log(parts.join(", "));
