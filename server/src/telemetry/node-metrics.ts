import { statfs } from "node:fs/promises";
import { Gauge, Counter, type Registry } from "prom-client";

type NodeParts = {
  version: string;
  /** The disk of this folder holds the journal, the spool and the embedded stores. */
  dataDir: string;
  readiness: Record<"traffic" | "reads", () => Promise<Record<string, string>>>;
  connections: () => { used: number; idle: number; waiting: number };
};

/** Metrics of a node as a whole, computed on each scrape. */
export function watchNode(registry: Registry, { version, dataDir, readiness, connections }: NodeParts): void {
  watchConnections(registry, connections);
  const registers = [registry];
  new Gauge({
    name: "spanway_build_info",
    help: "The version that runs; the value is always 1",
    labelNames: ["version"] as const,
    registers,
  }).set({ version }, 1);
  const ready = new Gauge({
    name: "spanway_ready",
    help: "1 for each check of /readyz?reads=true that is ok, else 0",
    labelNames: ["check"] as const,
    registers,
    async collect() {
      const checks = await Promise.all([readiness.traffic(), readiness.reads()]);
      for (const [check, state] of checks.flatMap(Object.entries<string>)) ready.set({ check }, state === "ok" ? 1 : 0);
    },
  });
  const free: Gauge = new Gauge({
    name: "spanway_data_disk_free_bytes",
    help: "Bytes that the server's user can still write to the disk of the data folder",
    registers,
    async collect() {
      // An unreadable metric must not fail the others.
      const disk = await statfs(dataDir).catch(() => undefined);
      free.set(disk === undefined ? Number.NaN : disk.bavail * disk.bsize);
    },
  });
}

function watchConnections(registry: Registry, counts: () => { used: number; idle: number; waiting: number }): void {
  const gauge = new Gauge({
    name: "spanway_control_connections",
    help: "Used and idle connections to Postgres, and statements that wait for one",
    labelNames: ["state"] as const,
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(counts())) gauge.set({ state }, count);
    },
  });
}

/** The number of passwords that wait to be hashed, and of refused ones. */
export function watchPasswords(registry: Registry, passwords: { stats(): { waiting: number; refused: number } }): void {
  const registers = [registry];
  const waiting: Gauge = new Gauge({
    name: "spanway_password_hashes_waiting",
    help: "Logins and new passwords that wait to be hashed",
    registers,
    collect: () => waiting.set(passwords.stats().waiting),
  });
  const refusals: Counter = new Counter({
    name: "spanway_password_hash_refusals_total",
    help: "Logins and new passwords refused because too many waited, or waited too long",
    registers,
    collect() {
      refusals.reset();
      refusals.inc(passwords.stats().refused);
    },
  });
}
