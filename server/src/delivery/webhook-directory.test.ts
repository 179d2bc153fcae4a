import { expect, test } from "vitest";
import type { Webhook } from "../domain/webhook.ts";
import { createWebhookDirectory } from "./webhook-directory.ts";

test("a slow read of the webhooks does not replace what a later one has read", async () => {
  const reads: Array<PromiseWithResolvers<void>> = [];
  let stored: Webhook[] = [];
  const directory = createWebhookDirectory({
    listActive: async () => {
      const read = stored;
      const reading = Promise.withResolvers<void>();
      reads.push(reading);
      await reading.promise;
      return read;
    },
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const before = directory.refresh();
  await turn();
  stored = [{ id: 1, unique_organization_id: "org", event_type: "request_log", alert_id: null } as Webhook];
  const after = directory.refresh();
  await turn();
  // The later read is answered first, if it has begun.
  reads[1]?.resolve();
  await turn();
  reads[0]?.resolve();
  await turn();
  reads[1]?.resolve();
  await Promise.all([before, after]);
  expect(directory.hasAny("org", ["request_log"])).toBe(true);
});
