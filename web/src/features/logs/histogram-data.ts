/** Bars of requests and errors over the window. */
export type Bar = { startMs: number; endMs: number; requests: number; errors: number };

export function toBars(
  {
    buckets,
    requests,
    errors,
  }: { buckets: readonly string[]; requests: readonly (number | null)[]; errors: readonly (number | null)[] },
  endOfWindow: string,
): Bar[] {
  const endMs = Date.parse(endOfWindow);
  const starts = buckets.map((start) => Date.parse(start));
  const bars = starts.map((startMs, at) => ({
    startMs,
    endMs: starts[at + 1] ?? Math.max(startMs + 1, endMs),
    requests: requests[at] ?? 0,
    errors: errors[at] ?? 0,
  }));
  // The window includes its end: a bucket that begins there is a single instant.
  return bars.filter(({ startMs, requests: count }, at) => at === 0 || startMs < endMs || count > 0);
}

/** The time range between two positions in the chart, each a share of its width from 0 to 1. At least one second. */
export function zoomTo(bars: readonly Bar[], from: number, to: number): { from: string; to: string } | undefined {
  const first = bars[0];
  const last = bars.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const length = last.endMs - first.startMs;
  const at = (share: number): number => first.startMs + Math.min(1, Math.max(0, share)) * length;
  const start = at(Math.min(from, to));
  const end = Math.max(at(Math.max(from, to)), start + 1000);
  return { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
}
