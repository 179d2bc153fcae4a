import { Counter, Gauge, type Registry } from "prom-client";

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
