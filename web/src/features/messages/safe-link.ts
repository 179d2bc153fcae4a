/**
 * An address from data as a link may have it: absolute, of a scheme that only leads somewhere, without name and password. Undefined
 * for all others, those of this server too: a message must not lead to one of its routes.
 */
export function safeHref(address: unknown): string | undefined {
  if (typeof address !== "string" || !/^\s*(?:https?:\/\/|mailto:)/i.test(address)) return undefined;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol !== "https:" && url.protocol !== "http:" && url.protocol !== "mailto:") return undefined;
  return url.username === "" && url.password === "" ? url.href : undefined;
}

/** What every link to such an address has. */
export const outside = {
  target: "_blank",
  rel: "noopener noreferrer nofollow ugc",
  referrerPolicy: "no-referrer",
} as const;
