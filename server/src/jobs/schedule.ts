import type { Logger } from "pino";

export type Schedule = { stop(): Promise<void> };

/**
 * Runs `work` immediately and then `everyMs` after each end, never twice at the same time. A failure is logged, not
 * fatal.
 */
export function scheduleJob(
  { name, everyMs, logger }: { name: string; everyMs: number; logger: Logger },
  work: (signal: AbortSignal) => Promise<void>,
): Schedule {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const run = async (): Promise<void> => {
    try {
      await work(stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted) logger.error({ err: error, job: name }, "a job failed; it will run again");
    }
    if (!stopping.signal.aborted) timer = setTimeout(start, everyMs).unref();
  };
  const start = (): void => {
    running = run();
  };
  start();

  return {
    async stop() {
      stopping.abort(new Error(`the job ${name} was stopped`));
      clearTimeout(timer);
      await running;
    },
  };
}
