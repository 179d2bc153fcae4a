import type { SpanSelection } from "./span-store.ts";

export const exportFormats = ["jsonl", "csv", "parquet"] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** Takes a piece of a file. The next one is made when it has resolved; when it throws, no further ones are. */
export type TakeBytes = (bytes: Uint8Array) => Promise<void>;

/** `fields` are names of `exportedSpan`. */
export type ExportSpansQuery = SpanSelection & { format: ExportFormat; fields: readonly string[] };
