import { randomBytes } from "node:crypto";
import { spansLocation } from "../../server/src/config/locations.ts";
import { openSpanDatabase } from "../../server/src/storage/spans/clickhouse-span-store.ts";
import { startTestClickHouse } from "../../server/test/support/clickhouse-http-server.ts";

/** The span store of a bench; without a URL it is chDB inside each server, as by default. */
export type SpansServer = {
  url: string | undefined;
  environment: Record<string, string>;
  /** The process id of a stand-in. */
  pid?: number | undefined;
  stop(): Promise<void>;
};

/**
 * @param spansUrl the value of `--spans-url`: the URL of a ClickHouse, in which the bench has a separate database until
 * it stops, or `stand-in` for chDB behind ClickHouse's HTTP interface, in a separate process
 */
export async function openSpansServer(spansUrl: string | undefined): Promise<SpansServer> {
  if (spansUrl === undefined) return { url: undefined, environment: {}, stop: () => Promise.resolve() };
  if (spansUrl === "stand-in") {
    const testServer = await startTestClickHouse();
    const { url, pid } = testServer;
    return { url, pid, environment: { SPANWAY_SPANS_URL: url }, stop: () => testServer.stop() };
  }
  const location = spansLocation(spansUrl);
  if (location.kind !== "clickhouse") throw new Error("--spans-url takes the URL of a ClickHouse server, or stand-in");
  const database = `spanway_bench_${randomBytes(4).toString("hex")}`;
  const server = openSpanDatabase(location);
  const onCluster = location.cluster === null ? "" : ` ON CLUSTER '${location.cluster}'`;
  await server.execute({ name: "bench", sql: `CREATE DATABASE ${database}${onCluster}` });
  const url = new URL(spansUrl);
  url.pathname = database;
  return {
    url: url.href,
    environment: { SPANWAY_SPANS_URL: url.href },
    async stop() {
      await server.execute({ name: "bench", sql: `DROP DATABASE ${database}${onCluster}` });
      await server.close();
    },
  };
}
