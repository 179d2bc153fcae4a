import type { SeriesKey } from "./span-series.ts";
import type { SpanSelection } from "./span-store.ts";

export type SpanFacetsQuery = SpanSelection & {
  /** Columns or `metadata__<key>`, each once. */
  fields: readonly SeriesKey[];
  /** Values of each field at most, and metadata keys. */
  limit: number;
  /** Values that have this text, in whatever case; with one field only. */
  search?: string | undefined;
};

export type SpanFacets = {
  /** By field, the most frequent first. Spans without a value are left out. */
  values: Array<{ field: string; value: string | number | null; count: number }>;
  /** As `metadata__<key>` takes them: the keys of a nested path are joined by `__`. */
  metadataKeys: Array<{ key: string; count: number }>;
};
