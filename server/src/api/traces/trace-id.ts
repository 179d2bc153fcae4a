/** The id in a path as it was stored: ingest replaces NUL, which neither store takes in text. */
export function readTraceId(id: string): string {
  return id.replaceAll("\0", "\uFFFD");
}
