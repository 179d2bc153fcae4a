import { expect, test } from "vitest";
import { controlMigrations } from "./list.ts";

/** Names of migrations that databases of released versions have on record. Add those of a release, never change one. */
const released = [
  "0001-create-accounts",
  "0002-create-trace-records",
  "0003-create-customers",
  "0004-create-provider-settings",
  "0005-create-webhooks",
  "0006-create-evaluation",
  "0007-remember-reached-budgets",
  "0008-block-organizations",
  "0009-reserve-judgements",
  "0013-split-permissions",
  "0014-create-people",
  "0015-name-signatures",
];

test("what is new comes after what was released, by name: the migrator refuses a database otherwise", () => {
  for (const dialect of ["sqlite", "postgres"] as const) {
    const names = Object.keys(controlMigrations(dialect));
    expect(names).toEqual(names.toSorted());
    expect(names.slice(0, released.length)).toEqual(released);
  }
});
