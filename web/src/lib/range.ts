/** The time window of a screen: a preset that moves with the clock, or two fixed times. */

export const presets = {
  "15m": 900,
  "1h": 3600,
  "6h": 21_600,
  "24h": 86_400,
  "7d": 604_800,
  "14d": 1_209_600,
  "30d": 2_592_000,
} as const;

export type Preset = keyof typeof presets;

export type RangeSearch = { range?: Preset | undefined; from?: string | undefined; to?: string | undefined };

export const defaultPreset: Preset = "24h";

function isPreset(value: unknown): value is Preset {
  return typeof value === "string" && Object.hasOwn(presets, value);
}

/** The ends as ISO times. A preset ends at the next full minute, so that queries within a minute share their key. */
export function windowOf({ range, from, to }: RangeSearch, nowMs: number = Date.now()): { start: string; end: string } {
  if (from !== undefined && to !== undefined) return { start: from, end: to };
  const endMs = Math.ceil(nowMs / 60_000) * 60_000;
  const startMs = endMs - presets[range ?? defaultPreset] * 1000;
  return { start: new Date(startMs).toISOString(), end: new Date(endMs).toISOString() };
}

/** Parses the range in a URL; invalid times, and an end before the start, are ignored. */
export function parseRange(search: Record<string, unknown>): RangeSearch {
  const from = isoOf(search["from"]);
  const to = isoOf(search["to"]);
  if (from !== undefined && to !== undefined && from < to) return { from, to };
  return isPreset(search["range"]) ? { range: search["range"] } : {};
}

function isoOf(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
