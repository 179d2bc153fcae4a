import { domainLimits } from "../domain/limits.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";

/** Deletes media that no span refers to any more. Recent media may belong to spans that are still in a journal. */
export async function sweepUnusedMedia(
  { spans, now }: { spans: Pick<SpanStore, "sweepMedia">; now: () => number },
  signal: AbortSignal,
): Promise<void> {
  await spans.sweepMedia(now() - domainLimits.mediaUnusedMs, signal);
}
