const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;
const protocolPattern = /^https?$/i;
const prefixPattern = /^(?:\/[\w.~-]+)*\/*$/;

/** How the caller reached this server, as the request and the trusted proxies state it. */
export type ReachedAt = { protocol: string; host: string; prefix: string };

/**
 * Returns the URL under which the caller reached this server, without a trailing slash: the configured public URL, else
 * the one that the request names, if its parts are a plain protocol, host and path, else the address that the server
 * listens on.
 */
export function baseUrlOf(
  publicUrl: string | undefined,
  { protocol, host, prefix }: ReachedAt,
  listening: string,
): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, "");
  const isPlain = protocolPattern.test(protocol) && hostPattern.test(host) && prefixPattern.test(prefix);
  const url = `${protocol}://${host}${prefix.replace(/\/+$/, "")}`;
  return isPlain && URL.canParse(url) ? url : listening;
}
