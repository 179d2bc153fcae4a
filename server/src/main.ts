import { ConfigError, readConfig } from "./config.ts";

// Each query of the embedded store holds a thread of libuv's pool, which is made at its first use: four are too few.
process.env["UV_THREADPOOL_SIZE"] ??= "16";

const minNodeMajor = 24;
if (Number(process.versions.node.split(".")[0]) < minNodeMajor) {
  console.error(`Spanway needs Node ${minNodeMajor}, this is ${process.versions.node}. Start it with \`npm start\`.`);
  process.exit(1);
}

// Loaded only now: the modules below do not even parse on an older Node.
const { startApp } = await import("./app.ts");
const { createLogger } = await import("./telemetry/logger.ts");
const { describeFirstStart } = await import("./auth/describe-first-start.ts");

try {
  const config = readConfig();
  const logger = createLogger(config.logLevel);
  for (const name of config.unknownVariables) logger.warn({ name }, "an environment variable that nothing reads");

  const app = await startApp({ config, logger });
  if (app.firstStart) console.log(describeFirstStart(app.firstStart, app.url));
  logger.info({ url: app.url }, "Spanway is listening");

  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, "stopping");
    void app.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, "could not stop cleanly; the journal keeps what was accepted");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exit(1);
}
