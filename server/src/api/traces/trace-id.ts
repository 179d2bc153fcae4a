/** The id in a path in its stored form: ingest replaces NUL, which neither store accepts in text. */
export function readTraceId(id: string): string {
  return id.replaceAll("\0", "\uFFFD");
}
