// Prints `N passed, N failed`, and `, N skipped` where there are any, from vitest's JSON report. A file that could not
// even be loaded holds no tests, but counts as one that failed; so does a run that failed without a failed test.
import { readFileSync } from "node:fs";

const [path, outcome] = process.argv.slice(2);
const report = JSON.parse(readFileSync(path, "utf8"));
const brokenFiles = report.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0);
const failed = Math.max(report.numFailedTests + brokenFiles.length, outcome === "failed" ? 1 : 0);
const skipped = report.numPendingTests + report.numTodoTests;
const parts = [`${report.numPassedTests} passed`, `${failed} failed`];
if (skipped > 0) parts.push(`${skipped} skipped`);
console.log(parts.join(", "));
