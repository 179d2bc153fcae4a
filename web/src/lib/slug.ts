/**
 * Derives a slug from a name, in the same way for all kinds of records: letters, digits and hyphens.
 *
 * @param noun the kind of record, such as `condition`, used if the name alone would give an empty or reserved slug
 */
export function slugOf(name: string, noun: string): string {
  const words = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const slug = words
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60)
    .replace(/-+$/, "");
  if (slug === "") return name.trim() === "" ? "" : `${noun}-${shortHash(name.trim())}`;
  return reserved.test(slug) ? `${noun}-${slug}` : slug;
}

/** `list` is a path segment of the API, and ids have the second form. */
const reserved = /^(?:list|[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12})$/;

/** FNV-1a: only distinguishes names in other scripts. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(36);
}
