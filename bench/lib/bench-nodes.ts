import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createPostgresDatabase } from "../../server/test/support/postgres.ts";
import { benchFolder, startBenchServer, type BenchServer } from "./bench-server.ts";
import { post } from "./post.ts";
import { openSpansServer } from "./spans-server.ts";

/** Starts nodes over one span store and one Postgres. @param spansUrl `embedded`: a node has its own stores */
export async function startBenchNodes(count: number, spansUrl: string) {
  const isEmbedded = spansUrl === "embedded";
  const spans = await openSpansServer(isEmbedded ? undefined : spansUrl);
  const database = isEmbedded ? undefined : await createPostgresDatabase();
  const shared = { SPANWAY_CONTROL_URL: database?.url.reveal() ?? "", SPANWAY_SECRET_KEY: "a secret of all nodes" };
  const folders = Array.from({ length: count }, benchFolder);
  const servers: BenchServer[] = [];
  for (const { path } of folders) {
    servers.push(await startBenchServer(path, database && { ...spans.environment, ...shared }));
  }
  const agent = new Agent({ keepAlive: true });
  return {
    servers,
    spans,
    sendBulk: async (body: Buffer, index: number, headers?: Record<string, string>): Promise<void> => {
      const url = `${servers[index % servers.length]?.url}/api/request-logs/bulk/`;
      const { status } = await post(agent, url, body, "application/json", headers);
      if (status !== 201) throw new Error(`bulk answered ${status}`);
    },
    /** Resolves once journal and fan-out are empty: all spans are stored and processed by all subscribers. */
    async stored(): Promise<void> {
      for (const { url } of servers) {
        for (;;) {
          const text = await (await fetch(`${url}/metrics`)).text();
          const waiting = [...text.matchAll(/^spanway_(?:journal_entries|fan_out_waiting_entries).* (\d+)$/gm)];
          if (waiting.every(([, entries]) => entries === "0")) break;
          await sleep(20);
        }
      }
    },
    /** Processor time of all nodes. */
    async usedMs(): Promise<number> {
      const replies = await Promise.all(servers.map((server) => server.send({ kind: "cpu" })));
      return replies.reduce((sum, { processMs = 0 }) => sum + processMs, 0);
    },
    async stop(): Promise<void> {
      agent.destroy();
      await Promise.all(servers.map((server) => server.stop()));
      await spans.stop();
      await database?.drop();
      for (const folder of folders) folder.remove();
    },
  };
}
