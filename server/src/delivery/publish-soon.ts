import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { limits } from "../limits.ts";
import type { DeliveryMetrics } from "../telemetry/delivery-metrics.ts";
import type { Events, WebhookEvent } from "./events.ts";

/**
 * Publishes for those who cannot wait and cannot try again. Until the control store takes an event it is held in this
 * process's memory alone, and of very many the newest are dropped.
 */
export type PublishSoon = {
  publish(event: WebhookEvent): void;
  /** Gives what waits one more try. */
  stop(): Promise<void>;
};

export function createPublishSoon(deps: {
  events: Pick<Events, "isHeard" | "publish">;
  metrics: Pick<DeliveryMetrics, "skipped">;
  logger: Logger;
}): PublishSoon {
  const { events, metrics, logger } = deps;
  const waiting: WebhookEvent[] = [];
  const stopping = new AbortController();
  let running: Promise<void> | undefined;

  const drain = async (): Promise<void> => {
    for (let event = waiting[0]; event !== undefined; event = waiting[0]) {
      try {
        await events.publish(event);
        waiting.shift();
      } catch (error) {
        if (stopping.signal.aborted) break;
        logger.error({ err: error, event_type: event.type }, "an event could not be queued; trying again");
        await sleep(limits.eventRetryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
    running = undefined;
  };

  return {
    publish(event) {
      if (!events.isHeard(event)) return;
      if (waiting.length >= limits.eventsUnqueued) return metrics.skipped.inc();
      waiting.push(event);
      running ??= drain();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
