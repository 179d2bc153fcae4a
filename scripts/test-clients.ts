import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Installs the client SDKs of clients/ unless they match its lockfile, checks their types, and runs them against a
 * started server. Arguments are passed to vitest.
 */
const root = join(import.meta.dirname, "..");
const clients = join(root, "clients");

if (!isInstalled()) run("npm", ["ci", "--prefix", clients, "--no-audit", "--no-fund"]);
run("tsc", ["--noEmit", "-p", join(clients, "tsconfig.json")]);
run("vitest", ["run", "--config", join(clients, "vitest.config.ts"), ...process.argv.slice(2)]);

/** npm stores a copy of the installed lockfile, without the root package and packages for other platforms. */
function isInstalled(): boolean {
  const installed = join(clients, "node_modules/.package-lock.json");
  return existsSync(installed) && packagesOf(installed) === packagesOf(join(clients, "package-lock.json"));
}

function packagesOf(lockfile: string): string {
  const { packages } = JSON.parse(readFileSync(lockfile, "utf8")) as {
    packages: Record<string, { version?: string; optional?: boolean }>;
  };
  const entries = Object.entries(packages).filter(([name, { optional }]) => name !== "" && optional !== true);
  return JSON.stringify(entries.map(([name, { version }]) => `${name}@${version ?? ""}`).toSorted());
}

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
