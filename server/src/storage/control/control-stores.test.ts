import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeControlStores } from "../../../test/support/control-store-contract.ts";
import { createPostgresDatabase, postgresSkipReason, postgresUrl } from "../../../test/support/postgres.ts";
import { hasPgBouncer, pgBouncerSkipReason, startPgBouncer, type PgBouncer } from "../../../test/support/pgbouncer.ts";
import { Secret } from "../../lib/secret.ts";
import { createControlStores } from "./control-stores.ts";
import { openControlDatabase, type ControlLocation } from "./open-control-database.ts";

type Place = { location: ControlLocation; url: string; remove: () => Promise<void> };

async function sqlitePlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "spanway-control-"));
  const path = join(folder, "nested", "control.db");
  return {
    location: { kind: "sqlite", path },
    url: `sqlite:${path}`,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function postgresPlace(): Promise<Place> {
  const { url, drop } = await createPostgresDatabase();
  return { location: { kind: "postgres", url }, url: url.reveal(), remove: drop };
}

describe("control stores on SQLite", () => {
  describeDriver(sqlitePlace);
});
describe.skipIf(postgresUrl === undefined)(`control stores on Postgres${postgresSkipReason}`, () => {
  describeDriver(postgresPlace);
});
describe.skipIf(!hasPgBouncer)(`control stores on Postgres behind PgBouncer${pgBouncerSkipReason}`, () => {
  let bouncer: PgBouncer;
  beforeAll(async () => {
    bouncer = await startPgBouncer();
  });
  afterAll(() => bouncer.stop());
  describeDriver(async () => {
    const { url, remove } = await postgresPlace();
    const through = bouncer.through(url);
    return { location: { kind: "postgres", url: new Secret(through) }, url: through, remove };
  });
});

function describeDriver(newPlace: () => Promise<Place>) {
  describeControlStores(async () => {
    const { location, remove } = await newPlace();
    return { database: openControlDatabase(location), remove };
  });

  test("processes that start simultaneously on an empty database set up one instance", async () => {
    const { location, url, remove } = await newPlace();
    const results = await startNodesAtOnce(url, 4);
    expect(results.filter((made) => made !== null)).toHaveLength(1);

    const database = openControlDatabase(location);
    const stores = createControlStores(database);
    const [organization, ...others] = await stores.organizations.list();
    expect(others).toEqual([]);
    expect(await stores.users.list(organization!.unique_organization_id)).toHaveLength(1);
    expect(await stores.apiKeys.list(organization!.unique_organization_id, "2026-03-01T10:00:00.000Z")).toHaveLength(2);
    await database.close();
    await remove();
  });

  test("uses tables of a newer version if they allow it, and refuses them in one sentence if not", async () => {
    const { location, remove } = await newPlace();
    const open = async () => {
      const database = openControlDatabase(location);
      await database.migrate();
      return database;
    };
    const database = await open();
    await sql`insert into kysely_migration (name, timestamp) values ('9998-expand', '2027')`.execute(database.queries);
    await sql`alter table organizations add column expanded text`.execute(database.queries);
    const older = await open();
    expect(await createControlStores(older).organizations.list()).toEqual([]);
    await older.close();
    await sql`insert into kysely_migration (name, timestamp) values ('9999-contract', '2028')`.execute(
      database.queries,
    );
    await sql`update schema_support set runs_from = '9998-expand'`.execute(database.queries);
    const refused = openControlDatabase(location);
    await expect(refused.migrate()).rejects.toThrow(
      /^The control database was changed by a newer version of Spanway \(9999-contract\), .*: start this node with the newer version\.$/,
    );
    await refused.close();
    // Earlier versions did not record whether they can run on newer tables.
    await sql`drop table schema_support`.execute(database.queries);
    const unsaid = openControlDatabase(location);
    await expect(unsaid.migrate()).rejects.toThrow("9999-contract");
    await Promise.all([unsaid.close(), database.close()]);
    await remove();
  });

  test("rows outlive the connection", async () => {
    const { location, remove } = await newPlace();
    const first = openControlDatabase(location);
    await first.migrate();
    const organization = await createControlStores(first).organizations.create({
      unique_organization_id: "org_a",
      name: "A",
      retention_days: 7,
      created_at: "2026-03-01T10:00:00.000Z",
    });
    await first.close();

    const second = openControlDatabase(location);
    await second.migrate();
    expect(await createControlStores(second).organizations.find("org_a")).toEqual(organization);
    await second.close();
    await remove();
  });
}

async function startNodesAtOnce(url: string, count: number): Promise<unknown[]> {
  const script = fileURLToPath(new URL("../../../test/support/start-control-node.ts", import.meta.url));
  const nodes = Array.from({ length: count }, () =>
    spawn(process.execPath, [script, url], { stdio: ["pipe", "pipe", "inherit"] }),
  );
  await Promise.all(nodes.map((node) => once(node.stdout, "readable")));
  const outputs = nodes.map(async (node) => {
    node.stdin.end("go\n");
    const output = await text(node.stdout);
    return JSON.parse(output.trim().split("\n").at(-1) ?? "") as unknown;
  });
  return Promise.all(outputs);
}
