/**
 * An untrusted URL if it is safe to link: absolute, with the scheme http, https or mailto, without user name and
 * password. Undefined for all others, including relative ones: a message must not link to a route of this server.
 */
export function safeHref(address: unknown): string | undefined {
  if (typeof address !== "string" || !/^\s*(?:https?:\/\/|mailto:)/i.test(address)) return undefined;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol !== "https:" && url.protocol !== "http:" && url.protocol !== "mailto:") return undefined;
  return url.username === "" && url.password === "" ? url.href : undefined;
}

/** The attributes of every such link. */
export const outside = {
  target: "_blank",
  rel: "noopener noreferrer nofollow ugc",
  referrerPolicy: "no-referrer",
} as const;
