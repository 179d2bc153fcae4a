import { setTimeout as sleep } from "node:timers/promises";
import type { FirstStart } from "./auth/first-start.ts";
import { ConfigError, readConfig } from "./config/config.ts";
import { engineAllocator } from "./storage/spans/drivers/engine-allocator.ts";

// Each query of the embedded store occupies a thread of libuv's pool, which is created at its first use: the default of
// four is too few.
process.env["UV_THREADPOOL_SIZE"] ??= "16";
process.env["JE_MALLOC_CONF"] ??= engineAllocator;

// No other user may read stored data: this also covers files of the database engines.
process.umask(0o077);

const minNodeMajor = 24;
if (Number(process.versions.node.split(".")[0]) < minNodeMajor) {
  console.error(`Spanway needs Node ${minNodeMajor}, this is ${process.versions.node}. Start it with \`npm start\`.`);
  process.exit(1);
}

// Imported only now: the modules below do not even parse on an older Node.
const { startApp } = await import("./app.ts");
const { createLogger, openLogOutput } = await import("./telemetry/logger.ts");
const { DataFolderError } = await import("./storage/data-folder.ts");
const { NodeLockError } = await import("./storage/journal/node-lock.ts");
const { ClockError } = await import("./storage/control/store-clock.ts");
const { ControlUnreachable } = await import("./storage/control/open-control-database.ts");
const { SpanStoreUnopened } = await import("./storage/spans/drivers/embedded-database.ts");
const { NewerTables } = await import("./storage/newer-tables.ts");
const { WrongSecretKey } = await import("./auth/secret-check.ts");
const { describeFirstStart } = await import("./auth/describe-first-start.ts");
const { collectWhenIdle } = await import("./lib/collect-when-idle.ts");

const operatorErrors = [
  ConfigError,
  NodeLockError,
  DataFolderError,
  ClockError,
  ControlUnreachable,
  WrongSecretKey,
  SpanStoreUnopened,
  NewerTables,
];

const listenRemedies: Partial<Record<string, string>> = {
  EADDRINUSE: "Another program listens there; set SPANWAY_PORT to a free port.",
  EADDRNOTAVAIL: "This machine does not have that address; set SPANWAY_HOST to one of its own, or 0.0.0.0 for all.",
  EACCES: "This user may not listen there; set SPANWAY_PORT to a port from 1024 on.",
  ENOTFOUND: "SPANWAY_HOST is neither an address nor a name that this machine can resolve.",
};

/** One line for errors that an operator can fix, the whole error for others. */
function explain(error: unknown): unknown {
  if (operatorErrors.some((known) => error instanceof known)) return (error as Error).message;
  const remedy = error instanceof Error && "code" in error ? listenRemedies[String(error.code)] : undefined;
  if (error instanceof Error && remedy !== undefined) return `${error.message}. ${remedy}`;
  return error;
}

/**
 * Ends the process after a short idle time: `process.exit` joins V8's compiler threads, and one that waits for a
 * garbage collection of the main thread would block it forever (https://github.com/nodejs/node/issues/54918).
 */
async function exitWhenIdle(code: number): Promise<void> {
  await sleep(200);
  process.exit(code);
}

/** To be shown once, also if a later step fails. */
const first: { made?: FirstStart } = {};
try {
  const config = readConfig();
  const output = openLogOutput();
  process.on("exit", () => output.flushSync());
  const logger = createLogger(config.logLevel, output);
  for (const name of config.unknownVariables) logger.warn({ name }, "unknown environment variable: nothing reads it");

  const app = await startApp({ config, logger, onFirstStart: (made) => void (first.made = made) });

  // In one piece: a log line must not come between.
  if (first.made) console.log(describeFirstStart(first.made, app.signInLink));

  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, "stopping");
    // Ctrl-C is used without a load balancer, so there is nothing to drain.
    const drainS = signal === "SIGTERM" ? config.drainS : 0;
    app.drain();
    const ended = drainS === 0 ? app.stop() : sleep(drainS * 1000).then(() => app.stop());
    void ended.then(
      () => {
        logger.info("stopped: all accepted spans are in the span store or in the journal");
        return exitWhenIdle(0);
      },
      (error: unknown) => {
        logger.error({ err: error }, "could not stop cleanly; accepted spans are still in the journal");
        return exitWhenIdle(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  collectWhenIdle();
  // Logged last: a reader of this line may stop the process immediately.
  logger.info({ url: app.url }, "Spanway is listening");
} catch (error) {
  if (first.made) console.log(describeFirstStart(first.made, undefined));
  console.error(explain(error));
  await exitWhenIdle(1);
}
