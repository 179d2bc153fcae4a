import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError, readConfig } from "./config/config.ts";

// Each query of the embedded store holds a thread of libuv's pool, which is made at its first use: four are too few.
process.env["UV_THREADPOOL_SIZE"] ??= "16";

// What is stored is nobody else's: this holds for files of the engines too.
process.umask(0o077);

const minNodeMajor = 24;
if (Number(process.versions.node.split(".")[0]) < minNodeMajor) {
  console.error(`Spanway needs Node ${minNodeMajor}, this is ${process.versions.node}. Start it with \`npm start\`.`);
  process.exit(1);
}

// Loaded only now: the modules below do not even parse on an older Node.
const { startApp } = await import("./app.ts");
const { createLogger, openLogOutput } = await import("./telemetry/logger.ts");
const { DataFolderError } = await import("./storage/data-folder.ts");
const { NodeLockError } = await import("./storage/journal/node-lock.ts");
const { ClockError } = await import("./storage/control/store-clock.ts");
const { ControlUnreachable } = await import("./storage/control/open-control-database.ts");
const { SpanStoreUnopened } = await import("./storage/spans/drivers/embedded-database.ts");
const { NewerTables } = await import("./storage/newer-tables.ts");
const { WrongSecretKey } = await import("./auth/secret-check.ts");
const { describeFirstStart, describeSignIn } = await import("./auth/describe-first-start.ts");

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
  ENOTFOUND: "SPANWAY_HOST is no address and no name that this machine knows.",
};

/** One line for what an operator can mend, the whole error for what only we can. */
function explain(error: unknown): unknown {
  if (operatorErrors.some((known) => error instanceof known)) return (error as Error).message;
  const remedy = error instanceof Error && "code" in error ? listenRemedies[String(error.code)] : undefined;
  if (error instanceof Error && remedy !== undefined) return `${error.message}. ${remedy}`;
  return error;
}

/**
 * Ends the process once it was idle for a moment: `process.exit` joins V8's compiler threads, and one that waits for a garbage
 * collection of the main thread would block it forever (https://github.com/nodejs/node/issues/54918).
 */
async function exitWhenIdle(code: number): Promise<void> {
  await sleep(200);
  process.exit(code);
}

try {
  const config = readConfig();
  const output = openLogOutput();
  process.on("exit", () => output.flushSync());
  const logger = createLogger(config.logLevel, output);
  for (const name of config.unknownVariables) logger.warn({ name }, "an environment variable that nothing reads");

  const app = await startApp({ config, logger, onFirstStart: (made) => console.log(describeFirstStart(made)) });

  if (app.signInLink !== undefined) console.log(describeSignIn(app.signInLink));

  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, "stopping");
    // Whoever presses Ctrl-C has no load balancer.
    const drainS = signal === "SIGTERM" ? config.drainS : 0;
    app.drain();
    const ended = drainS === 0 ? app.stop() : sleep(drainS * 1000).then(() => app.stop());
    void ended.then(
      () => {
        logger.info("stopped: all that was accepted is stored, or kept in the journal");
        return exitWhenIdle(0);
      },
      (error: unknown) => {
        logger.error({ err: error }, "could not stop cleanly; the journal keeps what was accepted");
        return exitWhenIdle(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  // Only now: whoever reads this may stop the process at once.
  logger.info({ url: app.url }, "Spanway is listening");
} catch (error) {
  console.error(explain(error));
  await exitWhenIdle(1);
}
