import type { SpanRow } from "../domain/span.ts";
import { traceNumbers, traceTexts, traceTimes } from "../domain/trace.ts";
import type { Catalogue } from "./catalogue.ts";
import { createGroupCatalogue, type GroupCatalogue } from "./group-fields.ts";

/** The fields of traces: those of their rows, and every field of spans. */
export function createTraceCatalogue(spans: Catalogue<SpanRow>): GroupCatalogue {
  const parts = {
    keys: ["trace_unique_id", "environment"],
    figures: [
      ["name", "text"] as const,
      ...traceTexts.map((name) => [name, "text"] as const),
      ...traceTimes.map((name) => [name, "time"] as const),
      ...traceNumbers.map((name) => [name, "number"] as const),
    ],
    aliases: [["id", "trace_unique_id"] as const],
  };
  return createGroupCatalogue(parts, spans);
}
