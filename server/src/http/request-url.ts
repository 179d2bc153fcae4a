const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

/**
 * The address under which the caller reached us: the configured public one, else the `Host` it named if that is
 * a plain host, else the address we listen on. Without a trailing slash.
 */
export function baseUrlOf(publicUrl: string | undefined, protocol: string, host: string, listening: string): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, "");
  const url = `${protocol}://${host}`;
  return hostPattern.test(host) && URL.canParse(url) ? url : listening;
}
