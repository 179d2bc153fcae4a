/**
 * A slug out of a name, alike for everything that has both: letters, digits and hyphens.
 *
 * @param noun what it is, such as `condition`, where the name alone would make none or a reserved one
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

/** Paths end in `list/`, and ids have this form. */
const reserved = /^(?:list|[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12})$/;

/** FNV-1a: tells names of other scripts apart, and nothing more. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(36);
}
