import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Session } from "chdb";

/**
 * Runs DDL as a cluster of one node with a keeper inside the process; its argument is a folder. Receives `{statements, queries}` by
 * message, returns the rows of each query or the error of the first statement that failed.
 *
 * In a separate process that is killed afterwards: an engine with a keeper inside does not always stop by itself.
 */
const folder = process.argv[2] ?? "";
const config = join(folder, "cluster.xml");
writeFileSync(
  config,
  `<clickhouse>
    <zookeeper><implementation>testkeeper</implementation></zookeeper>
    <macros><shard>01</shard><replica>r1</replica></macros>
    <remote_servers><main><shard><replica><host>localhost</host><port>9000</port></replica></shard></main></remote_servers>
    <distributed_ddl><path>/clickhouse/task_queue/ddl</path></distributed_ddl>
  </clickhouse>`,
);
const engine = new Session(join(folder, "data"), { connectionArgs: [`--config-file=${config}`] });

// chDB has no queue for ON CLUSTER; it reports that after it has parsed the whole statement.
const queueIsMissing = "QUERY_IS_PROHIBITED";
// Its replicas do not become active either: a statement that changes a table is parsed completely, and then refused.
const replicaSleeps = /TABLE_IS_READ_ONLY|shutdown called/;

export type ClusterDdlRequest = { statements: string[]; queries: string[] };
export type ClusterDdlReply = { rows: unknown[][] } | { error: string };

function run({ statements, queries }: ClusterDdlRequest): ClusterDdlReply {
  for (const sql of statements) {
    try {
      engine.query(sql);
      return { error: `took ON CLUSTER for nothing: ${sql}` };
    } catch (error) {
      if (!String(error).includes(queueIsMissing)) return { error: String(error) };
    }
    try {
      engine.query(sql.replace(/ ON CLUSTER '\w+'/, ""));
    } catch (error) {
      if (!replicaSleeps.test(String(error))) return { error: String(error) };
    }
  }
  const rowsOf = (sql: string) => (JSON.parse(engine.query(sql, "JSON")) as { data: unknown[] }).data;
  return { rows: queries.map(rowsOf) };
}

process.on("message", (request) => process.send?.(run(request as ClusterDdlRequest)));
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
