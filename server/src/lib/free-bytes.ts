/**
 * Frees the memory of bytes that are not read again, immediately; they are empty afterwards. Otherwise a buffer that
 * outlives a moment is freed only by a full collection, and megabytes of such buffers trigger one even if there is
 * little else to collect. Does nothing for a view of a larger buffer, which others may share.
 */
export function freeBytes(bytes: Uint8Array): void {
  const { buffer } = bytes;
  const isWhole = bytes.length > 0 && bytes.length === buffer.byteLength;
  if (isWhole && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
