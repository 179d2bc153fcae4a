import type { SpanRow } from "../domain/span.ts";
import { threadNumbers, threadTimes } from "../domain/thread.ts";
import type { Catalogue } from "./catalogue.ts";
import { createGroupCatalogue, type GroupCatalogue } from "./group-fields.ts";

/** The fields of threads: those of their rows, and every field of spans. */
export function createThreadCatalogue(spans: Catalogue<SpanRow>): GroupCatalogue {
  const parts = {
    keys: ["thread_identifier", "environment"],
    figures: [
      ...threadTimes.map((name) => [name, "time"] as const),
      ...threadNumbers.map((name) => [name, "number"] as const),
    ],
    aliases: [["id", "thread_identifier"] as const, ["timestamp", "last_timestamp"] as const],
  };
  return createGroupCatalogue(parts, spans);
}
