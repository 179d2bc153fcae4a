import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { startTestClickHouse, type TestClickHouse } from "../support/clickhouse-http-server.ts";
import { freePort } from "../support/free-port.ts";
import { startNginx } from "../support/nginx.ts";
import { createPostgresDatabase, postgresUrl } from "../support/postgres.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../support/scripted-upstream.ts";
import { newDataDir, startServerProcess, type ServerProcess } from "../support/server-process.ts";
import { createClient, type TestClient } from "../support/test-client.ts";
import { testKeys } from "../support/test-app.ts";

/** One of three nodes: its data folder and port stay, its process is restarted. */
export type ChaosNode = {
  name: string;
  /** Directly to the node, without the load balancer. */
  client: TestClient;
  process: ServerProcess;
  /** Starts it again, with this clock skew. */
  start(skewMs: number): Promise<void>;
};

/** Three nodes behind the nginx of deploy/compose, over one Postgres, one Redis and one ClickHouse. */
export type System = {
  nodes: ChaosNode[];
  /** Through the load balancer. */
  balanced: TestClient;
  clickhouse: TestClickHouse;
  redis: TestRedis;
  /** Drops every connection of the nodes to Postgres. */
  dropPostgresConnections(): Promise<void>;
  upstream: ScriptedUpstream;
  receiver: Receiver;
  stop(): Promise<void>;
};

/** Longer than any request to a node takes here, shorter than most pauses. */
const proxyReadTimeout = "6s";

const skewedClock = new URL("skewed-clock.ts", import.meta.url).href;

export async function startSystem(): Promise<System> {
  const cleanup: Array<() => unknown> = [];
  const stop = async () => {
    for (const undo of cleanup.splice(0).toReversed()) await undo();
  };
  try {
    const database = await createPostgresDatabase();
    cleanup.push(() => database.drop());
    const admin = new Client({ connectionString: postgresUrl });
    await admin.connect();
    cleanup.push(() => admin.end());
    const redis = await startRedis();
    cleanup.push(() => redis.stop());
    const clickhouse = await startTestClickHouse();
    cleanup.push(() => clickhouse.stop());
    const upstream = await startScriptedUpstream();
    cleanup.push(() => upstream.stop());
    const receiver = await startReceiver();
    cleanup.push(() => receiver.close());

    const environment = {
      SPANWAY_SPANS_URL: clickhouse.url,
      SPANWAY_CONTROL_URL: database.url.reveal(),
      SPANWAY_CACHE_URL: redis.url,
      SPANWAY_SECRET_KEY: "a secret that all nodes know",
      SPANWAY_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.1",
      OPENAI_API_KEY: "sk-upstream-0123456789",
      OPENAI_BASE_URL: `${upstream.url}/v1`,
    };
    const nodes: ChaosNode[] = [];
    // One after the other: the first creates the organization.
    for (const name of ["one", "two", "three"]) {
      const folder = newDataDir();
      cleanup.push(() => folder.remove());
      const port = String(await freePort());
      const start = (skewMs: number) =>
        startServerProcess(folder.path, {
          ...environment,
          SPANWAY_PORT: port,
          ...(skewMs !== 0 && {
            CLOCK_SKEW_MS: String(Math.round(skewMs)),
            NODE_OPTIONS: `--import=${skewedClock}`,
          }),
        });
      const process = await start(0);
      const client = createClient(process.url, testKeys.prod);
      const node: ChaosNode = {
        name,
        client,
        process,
        start: async (skewMs) => void (node.process = await start(skewMs)),
      };
      nodes.push(node);
      cleanup.push(() => endNode(node));
    }
    const balancer = await startBalancer(nodes.map(({ process }) => new URL(process.url).host));
    cleanup.push(() => balancer.stop());
    const name = new URL(database.url.reveal()).pathname.slice(1);
    return {
      nodes,
      balanced: createClient(balancer.url, testKeys.prod),
      clickhouse,
      redis,
      dropPostgresConnections: async () => {
        await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
      },
      upstream,
      receiver,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function endNode({ process }: ChaosNode): Promise<void> {
  process.child.kill("SIGCONT");
  const late = setTimeout(() => process.child.kill("SIGKILL"), 30_000);
  await process.kill("SIGTERM");
  clearTimeout(late);
}

/** The shipped configuration, with these nodes and a shorter wait. */
async function startBalancer(hosts: readonly string[]): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "spanway-balancer-"));
  chmodSync(folder, 0o755);
  const shipped = readFileSync(join(import.meta.dirname, "../../../deploy/compose/nginx.conf"), "utf8");
  const servers = hosts.map((host) => `server ${host} max_fails=1 fail_timeout=2s;`).join("\n");
  const site = (address: string) =>
    shipped
      .replace(/(?: *server spanway-\d:8787 .*\n)+/, `${servers}\n`)
      .replace("listen 8080;", `listen ${address};`)
      .replace(/proxy_read_timeout .*;/, `proxy_read_timeout ${proxyReadTimeout};`);
  const { url, nginx } = await startNginx(folder, "chaos", site);
  return {
    url,
    stop: async () => {
      const exited = once(nginx, "exit");
      nginx.kill("SIGTERM");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export type TestRedis = {
  url: string;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Kills it; the next one starts empty. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

async function startRedis(): Promise<TestRedis> {
  const port = String(await freePort());
  const args = ["--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", tmpdir()];
  const start = async (): Promise<ChildProcess> => {
    const child = spawn("redis-server", args, { stdio: ["ignore", "pipe", "ignore"] });
    let output = "";
    for await (const piece of child.stdout) {
      output += String(piece);
      if (output.includes("Ready to accept connections")) break;
    }
    return child;
  };
  const end = async (child: ChildProcess) => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  let child = await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    signal: (signal) => void child.kill(signal),
    restart: async () => {
      await end(child);
      await sleep(1_000);
      child = await start();
    },
    stop: () => end(child),
  };
}
