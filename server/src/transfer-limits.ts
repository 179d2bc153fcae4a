/** Bounds of commands that move what nodes keep. */
export const transferLimits = {
  /** Of a copy of the span store to a server, what goes into one insert. */
  copyBatchBytes: 16 * 2 ** 20,
};
