/**
 * Gives the memory of bytes that nobody will read any more back at once; they are empty from then on. What lives for longer than a moment
 * is freed by a collection of the whole heap otherwise, and megabytes of it are what brings one about, however little of the heap there is
 * to collect. A part of a larger buffer, which others may have parts of, stays as it is.
 */
export function freeBytes(bytes: Uint8Array): void {
  const { buffer } = bytes;
  const isWhole = bytes.length > 0 && bytes.length === buffer.byteLength;
  if (isWhole && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
