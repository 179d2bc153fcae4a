/**
 * Runs calls of `work` one after another, so that what an earlier call reads never replaces what a later one has read.
 * The work of each call begins after the call: it sees what was written before.
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => (last = last.catch(() => undefined).then(work));
}
