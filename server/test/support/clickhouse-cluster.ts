import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "chdb";

/**
 * A cluster of two shards inside one engine, for tests. Both shards are the engine itself, which treats them as two; a filter on the local
 * tables gives each the rows that its key selects. Joins, IN and aggregates behave as on two servers.
 *
 * Replicas do not become active in chDB, so rows are stored in tables without replication. Statements that change a table (mutations) are
 * also sent to a replicated twin, which parses them completely and refuses what a replica would refuse.
 */
export type TestCluster = {
  /** Settings of the engine's sessions. */
  connectionArgs: string[];
  /** Settings before a statement. */
  settings(): string;
  /** The table for inserted rows: two shards that are one table would deduplicate the second half of a batch as a repeated first half. */
  tableOf(table: string): string;
  /** The statement in the form for the engine. */
  prepare(sql: string, session: Session): string;
};

// A port without a listener: the engine recognizes itself by it.
const port = 29731;

export function createTestCluster(folder: string): TestCluster {
  const path = join(folder, "cluster.xml");
  writeFileSync(
    path,
    `<clickhouse>
      <tcp_port>${port}</tcp_port>
      <zookeeper><implementation>testkeeper</implementation></zookeeper>
      <macros><shard>01</shard><replica>r1</replica></macros>
      <remote_servers><main>
        <shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>
        <shard><internal_replication>true</internal_replication><replica><host>localhost</host><port>${port}</port></replica></shard>
      </main></remote_servers>
    </clickhouse>`,
  );
  /** The rows of each shard of a local table, by its name. */
  const shares = new Map<string, string>();
  let twins = 0;

  /** The change must be valid for a replicated table. */
  const tryOnTwin = (table: string, change: string, session: Session): void => {
    twins += 1;
    const twin = `twin_${twins}`;
    const keys = `SELECT partition_key, sorting_key FROM system.tables WHERE database = 'default' AND name = '${table}'`;
    const [found] = (JSON.parse(session.query(keys, "JSON")) as { data: Record<string, string>[] }).data;
    const engine = `ReplicatedMergeTree('/clickhouse/twins/${twin}', 'r1')`;
    session.query(
      `CREATE TABLE ${twin} AS ${table} ENGINE = ${engine} PARTITION BY (${found?.["partition_key"] || "tuple()"}) ORDER BY (${found?.["sorting_key"]})`,
    );
    try {
      session.query(`ALTER TABLE ${twin} ${change}`);
    } catch (error) {
      if (!replicaSleeps.test(String(error))) throw error;
    } finally {
      session.query(`DROP TABLE ${twin}`);
    }
  };

  return {
    connectionArgs: [`--config-file=${path}`],
    settings() {
      const filters = [...shares].map(([table, filter]) => `'default.${table}': '${filter}'`);
      // A cached result of a filter would apply to only one of the shards.
      return `SET additional_table_filters = {${filters.join(", ")}}, use_query_condition_cache = 0; `;
    },
    tableOf: (table) => (shares.has(`${table}_local`) ? `${table}_local` : table),
    prepare(sql, session) {
      const here = sql
        .replaceAll(" ON CLUSTER 'main'", "")
        .replaceAll(/\bReplicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?/g, "$1(")
        .replaceAll("replicated_deduplication_window", "non_replicated_deduplication_window");
      const spread = /ENGINE = Distributed\('main', 'default', '(\w+)', (.*)\)\s*$/s.exec(here);
      if (spread) shares.set(spread[1] ?? "", `shardNum() = 0 OR (${spread[2] ?? ""}) % 2 = shardNum() - 1`);
      const change = /^\s*ALTER TABLE (\w+_local) (DELETE .*)$/s.exec(here);
      if (change) tryOnTwin(change[1] ?? "", change[2] ?? "", session);
      return here;
    },
  };
}

const replicaSleeps = /TABLE_IS_READ_ONLY|shutdown called/;
