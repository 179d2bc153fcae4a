import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { postgresSkipReason, postgresUrl } from "./postgres.ts";

const isInstalled = spawnSync("pgbouncer", ["--version"]).status === 0;

/** Part of the names of skipped tests, like that of postgres.ts. */
export const pgBouncerSkipReason = isInstalled
  ? postgresSkipReason
  : " (skipped: there is no pgbouncer, scripts/test-services.sh installs it)";
export const hasPgBouncer = isInstalled && postgresUrl !== undefined;

export type PgBouncer = {
  /** The URL of a database through PgBouncer. */
  through(url: string): string;
  /** Kills it during its work and starts it again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Runs PgBouncer in transaction mode for all databases of the test server, configured as in docs/deployment.md. Its pools are smaller than
 * those of a node, so that statements of one client use several connections of the server.
 */
export async function startPgBouncer(settings: Record<string, string> = {}): Promise<PgBouncer> {
  if (postgresUrl === undefined) throw new Error("SPANWAY_TEST_POSTGRES_URL is not set");
  const postgres = new URL(postgresUrl);
  const folder = mkdtempSync(join(tmpdir(), "spanway-pgbouncer-"));
  // If root starts it, it runs as another user, who reads its file.
  chmodSync(folder, 0o755);
  const port = await freePort();
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: port,
    unix_socket_dir: "",
    auth_type: "any",
    pool_mode: "transaction",
    default_pool_size: 4,
    max_client_conn: 1000,
    ignore_startup_parameters: "statement_timeout,idle_in_transaction_session_timeout",
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const target = `* = host=${postgres.hostname} port=${postgres.port} user=${postgres.username}`;
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(file, `[databases]\n${target}\n[pgbouncer]\n${lines.join("\n")}\n`);
  const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const start = async (): Promise<ChildProcess> => {
    const child = spawn("pgbouncer", [...user, file], { stdio: "ignore" });
    for (let tries = 0; !(await listens(port)); tries += 1) {
      if (tries > 100 || child.exitCode !== null) throw new Error("PgBouncer did not start");
      await sleep(50);
    }
    return child;
  };
  let running = await start();
  const kill = async (): Promise<void> => {
    const exited = once(running, "exit");
    running.kill("SIGKILL");
    await exited;
  };
  return {
    through: (url) => {
      const changed = new URL(url);
      changed.port = String(port);
      return changed.href;
    },
    restart: async () => {
      await kill();
      running = await start();
    },
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const isThere = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isThere;
}
