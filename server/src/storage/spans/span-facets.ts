import type { SeriesKey } from "./span-series.ts";
import type { SpanSelection } from "./span-store.ts";

export type SpanFacetsQuery = SpanSelection & {
  /** Columns or `metadata__<key>`, each once. */
  fields: readonly SeriesKey[];
  /** The most values for each field, and the most metadata keys. */
  limit: number;
  /** Only values with this text, ignoring case; with one field only. */
  search?: string | undefined;
};

export type SpanFacets = {
  /** By field, the most frequent first. Spans without a value are left out. */
  values: Array<{ field: string; value: string | number | null; count: number }>;
  /** In the form of `metadata__<key>`: the keys of a nested path are joined by `__`. */
  metadataKeys: Array<{ key: string; count: number }>;
};
