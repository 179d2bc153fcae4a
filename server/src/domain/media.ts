/**
 * Media that spans contain is stored once for each organization and content; spans refer to it.
 * `text` is what stood in the span: a base64 data URI, or bare base64.
 */
export type Media = { id: string; media_type: string; text: string };

/** What stands in a stored span in place of media; `id` is the SHA-256 of what it replaces, in hexadecimal. */
export const mediaReference = (id: string): string => `/api/media/${id}/`;

export const mediaId = /^[0-9a-f]{64}$/;

export const mediaReferences = (): RegExp => /\/api\/media\/([0-9a-f]{64})\//g;
