import { Counter, Gauge, type Registry } from "prom-client";

/** How many passwords wait to be hashed, and whether that has reached its bound. */
export function watchPasswords(registry: Registry, passwords: { stats(): { waiting: number; refused: number } }): void {
  const registers = [registry];
  const waiting: Gauge = new Gauge({
    name: "spanway_password_hashes_waiting",
    help: "Logins and new passwords that wait for their turn to be hashed",
    registers,
    collect: () => waiting.set(passwords.stats().waiting),
  });
  const refusals: Counter = new Counter({
    name: "spanway_password_hash_refusals_total",
    help: "Logins and new passwords refused because too many waited, or one for too long",
    registers,
    collect() {
      refusals.reset();
      refusals.inc(passwords.stats().refused);
    },
  });
}
