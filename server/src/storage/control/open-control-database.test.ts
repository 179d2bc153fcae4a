import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { Migrator } from "kysely/migration";
import { describe, expect, test } from "vitest";
import { createPostgresDatabase, postgresSkipReason, postgresUrl } from "../../../test/support/postgres.ts";
import { startTcpProxy } from "../../../test/support/tcp-proxy.ts";
import { missingResource } from "../../http/error-reply.ts";
import { Secret } from "../../lib/secret.ts";
import { controlOutage } from "./control-outage.ts";
import { createControlStores } from "./control-stores.ts";
import { storageLimits } from "../limits.ts";
import { controlMigrations } from "./migrations/list.ts";
import { openControlDatabase, type ControlDatabase } from "./open-control-database.ts";

test("SQLite flushes every commit except those of unflushed work, also after a failed one", async () => {
  const database = openControlDatabase({ kind: "sqlite", path: ":memory:" });
  const flushing = async (queries = database.queries) => {
    const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(queries);
    return rows[0]?.synchronous;
  };
  const [normal, full] = [1, 2];
  for (let round = 0; round < 2; round += 1) {
    expect(await flushing()).toBe(full);
    expect(await database.unflushed((queries) => flushing(queries))).toBe(normal);
    expect(await database.transaction((queries) => flushing(queries))).toBe(full);
    await expect(database.unflushed(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  }
  await database.close();
});

test("K13: SQLite on a full disk reports it for statements and transactions, and works again once there is room", async () => {
  const database = openControlDatabase({ kind: "sqlite", path: ":memory:" });
  const { queries } = database;
  await sql`create table filled (text text)`.execute(queries);
  const insert = (chars: number, by = queries) => sql`insert into filled values (${"x".repeat(chars)})`.execute(by);
  await sql`pragma max_page_count = 20`.execute(queries);
  const full = { message: "database or disk is full" };
  await expect(insert(200_000)).rejects.toMatchObject(full);
  for (let round = 0; round < 2; round += 1) {
    const both = database.transaction(async (inner) => {
      await insert(10, inner);
      await insert(200_000, inner);
    });
    await expect(both).rejects.toMatchObject(full);
  }
  await sql`pragma max_page_count = 1000`.execute(queries);
  await database.transaction((inner) => insert(200_000, inner));
  const { rows } = await sql<{ count: number }>`select count(*) as count from filled`.execute(queries);
  expect(rows).toEqual([{ count: 1 }]);
  await database.close();
});

test("K1, K7: existing rows keep working, except keys that published what they could not read", async () => {
  const database = openControlDatabase({ kind: "sqlite", path: ":memory:" });
  const before = Object.entries(controlMigrations("sqlite")).filter(([name]) => name < "0013");
  const provider = { getMigrations: () => Promise.resolve(Object.fromEntries(before)) };
  await new Migrator({ db: database.queries, provider }).migrateToLatest();
  const all = ["spans:write", "spans:read", "analytics:read", "traces:delete", "customers:write", "settings:write"];
  const stored = { all, writes: ["spans:write"], reads: ["spans:read"], both: ["spans:write", "spans:read"] };
  await sql`insert into organizations (unique_organization_id, name, created_at) values ('org', 'O', '2026')`.execute(
    database.queries,
  );
  for (const [id, permissions] of Object.entries(stored)) {
    await sql`insert into api_keys (id, unique_organization_id, name, environment, hash, prefix, permissions, created_at)
      values (${id}, 'org', ${id}, 'prod', ${id}, '', ${JSON.stringify(permissions)}, '2026')`.execute(
      database.queries,
    );
  }
  await sql`insert into webhooks (id, unique_organization_id, name, url, event_type, active, secret, skipped_events, created_at, updated_at)
    values (7, 'org', 'w', 'https://example.com', 'request_log', 1, '', 0, '2026', '2026')`.execute(database.queries);
  await sql`insert into trace_shares values ('org', 't', 'test', 1, '2026')`.execute(database.queries);
  await database.migrate();
  const stores = createControlStores(database);
  const keys = await stores.apiKeys.list("org", "2026-03-01T10:00:00.000Z");
  expect(Object.fromEntries(keys.map(({ id, permissions }) => [id, permissions]))).toEqual({
    ...stored,
    all: [...all, "traces:share"],
    both: [...stored.both, "traces:share"],
  });
  expect(await stores.traceShares.findPublic("org", "t")).toEqual(["test"]);
  // Existing webhooks keep sending the headers that their receivers verify, under the ids that they know.
  expect(await stores.webhooks.find("org", 7)).toMatchObject({ legacy_signatures: true });
  await database.close();
});

test("reports a PgBouncer that refuses the timeouts of a connection, with the setting to change", async () => {
  const refusal = "SFATAL\0C08P01\0Munsupported startup parameter: statement_timeout\0\0";
  const message = Buffer.alloc(5 + refusal.length);
  message.write("E", 0);
  message.writeInt32BE(4 + refusal.length, 1);
  message.write(refusal, 5, "latin1");
  const bouncer = createServer((socket) => socket.on("error", () => undefined).once("data", () => socket.end(message)));
  bouncer.listen(0, "127.0.0.1");
  await once(bouncer, "listening");
  const { port } = bouncer.address() as AddressInfo;
  const url = new Secret(`postgres://spanway@127.0.0.1:${port}/spanway`);
  const database = openControlDatabase({ kind: "postgres", url });
  await expect(database.migrate()).rejects.toThrow(/PgBouncer .* ignore_startup_parameters = statement_timeout,/);
  await database.close();
  bouncer.close();
});

test.skipIf(postgresUrl === undefined)(
  `a connection that Postgres drops is an outage, whatever error the client reports${postgresSkipReason}`,
  async () => {
    const { url, drop } = await createPostgresDatabase();
    const database = openControlDatabase({ kind: "postgres", url });
    const failures: unknown[] = [];
    await database.queries.connection().execute(async (connection) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(connection);
      const running = sql`select pg_sleep(60)`.execute(connection).catch((error: unknown) => failures.push(error));
      await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.queries);
      await running;
      // Once the client has seen its socket close, it reports another error.
      await sleep(100);
      await sql`select 1`.execute(connection).catch((error: unknown) => failures.push(error));
    });
    await database.close();
    await drop();
    expect(failures.map(controlOutage)).toEqual([
      expect.stringContaining("57P01"),
      expect.stringContaining("not queryable"),
    ]);
    expect(failures.map(missingResource)).toEqual(Array(2).fill("its database does not answer"));
  },
);

describe.skipIf(postgresUrl === undefined)(
  `N1: a connection that is dropped under a statement${postgresSkipReason}`,
  () => {
    type Queries = ControlDatabase["queries"];
    const read = async (queries: Queries) => void (await queries.selectFrom("schema_support").selectAll().execute());
    const write = async (queries: Queries) =>
      void (await queries.updateTable("schema_support").set({ runs_from: "x" }).execute());
    const rawWrite = async (queries: Queries) =>
      void (await sql`update schema_support set runs_from = 'x'`.execute(queries));
    const writeInRead = async (queries: Queries) =>
      void (await queries
        .with("changed", (inner) => inner.updateTable("schema_support").set({ runs_from: "x" }).returningAll())
        .selectFrom("changed")
        .selectAll()
        .execute());

    /** Drops the connection while the statement waits for its answer. `isBack`: whether new connections are accepted. */
    async function dropUnder(
      run: (database: ControlDatabase, hang: () => void) => Promise<void>,
      { isBack = true, used = 1 } = {},
    ): Promise<unknown> {
      const { url, drop } = await createPostgresDatabase();
      const proxy = await startTcpProxy(url.reveal());
      const database = openControlDatabase({ kind: "postgres", url: new Secret(proxy.url) });
      await database.migrate();
      let isHung = false;
      const hang = () => {
        proxy.hang();
        isHung = true;
      };
      const failure = run(database, hang).then(
        () => undefined,
        (error: unknown) => error,
      );
      await expect.poll(() => isHung && database.connections().used).toBe(used);
      proxy.disconnect();
      if (isBack) proxy.resume();
      const caught = await failure;
      proxy.resume();
      expect(database.connections().used).toBe(0);
      await read(database.queries);
      await database.close();
      await proxy.stop();
      await drop();
      return caught;
    }

    test("a read is repeated on another one, and so is the begin of a transaction", async () => {
      const hung = (run: (database: ControlDatabase) => Promise<void>) =>
        dropUnder((database, hang) => (hang(), run(database)));
      expect(await hung(({ queries }) => read(queries))).toBeUndefined();
      expect(await hung((database) => database.transaction(write))).toBeUndefined();
    });

    test.each(Object.entries({ write, rawWrite, writeInRead }))(
      "a %s is not, because it may have been committed",
      async (_name, run) => {
        const failure = await dropUnder(({ queries }, hang) => (hang(), run(queries)));
        expect(controlOutage(failure)).toContain("Connection terminated");
      },
    );

    test("a read within a transaction is not, because others came before it", async () => {
      const failure = await dropUnder((database, hang) =>
        database.transaction(async (queries) => {
          await write(queries);
          hang();
          await read(queries);
        }),
      );
      expect(controlOutage(failure)).toBeDefined();
    });

    test("reads on all connections are repeated, although each needs the place of a dropped one", async () => {
      const { controlConnections: used } = storageLimits;
      const failure = await dropUnder(
        async ({ queries }, hang) => {
          const readOnAll = () => Promise.all(Array.from({ length: used }, () => read(queries)));
          await readOnAll();
          hang();
          await readOnAll();
        },
        { used },
      );
      expect(failure).toBeUndefined();
    });

    test("a read fails after a few tries if no other connection is to be had", async () => {
      const failure = await dropUnder(({ queries }, hang) => (hang(), read(queries)), { isBack: false });
      expect(controlOutage(failure)).toBeDefined();
    });
  },
);
