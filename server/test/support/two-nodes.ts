import { startTestClickHouse, type TestClickHouse } from "./clickhouse-http-server.ts";
import { createPostgresDatabase } from "./postgres.ts";
import { newDataDir, startServerProcess, type ServerProcess } from "./server-process.ts";
import type { EnvironmentVariables } from "../../src/config/config.ts";

/** Two nodes over one ClickHouse, one Postgres and, if there is one, one Redis. */
export type TwoNodes = { nodes: [ServerProcess, ServerProcess]; clickhouse: TestClickHouse; stop(): Promise<void> };

export async function startTwoNodes(overrides: EnvironmentVariables = {}): Promise<TwoNodes> {
  const folders = [newDataDir(), newDataDir()] as const;
  const [clickhouse, database] = [await startTestClickHouse(), await createPostgresDatabase()];
  const redisUrl = process.env["SPANWAY_TEST_REDIS_URL"];
  const environment = {
    ...overrides,
    SPANWAY_SPANS_URL: clickhouse.url,
    SPANWAY_CONTROL_URL: database.url.reveal(),
    SPANWAY_SECRET_KEY: "a secret that both nodes know",
    ...(redisUrl !== undefined && { SPANWAY_CACHE_URL: redisUrl }),
  };
  // The first creates the organization.
  const first = await startServerProcess(folders[0].path, environment);
  const nodes: [ServerProcess, ServerProcess] = [first, await startServerProcess(folders[1].path, environment)];
  return {
    nodes,
    clickhouse,
    stop: async () => {
      await Promise.all(nodes.map((node) => node.kill("SIGTERM")));
      await clickhouse.stop();
      await database.drop();
      await Promise.all(folders.map((folder) => folder.remove()));
    },
  };
}
