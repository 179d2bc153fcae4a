/**
 * The path of this site to open after signing in; undefined if it leads elsewhere or would be parsed as another host.
 */
export function ownPath(value: unknown): string | undefined {
  if (typeof value !== "string" || !value.startsWith("/")) return undefined;
  const base = "http://own.invalid";
  const url = URL.parse(value, base);
  if (url === null || url.origin !== base) return undefined;
  const path = `${url.pathname}${url.search}${url.hash}`;
  return path.startsWith("//") || url.pathname === "/login" ? undefined : path;
}
