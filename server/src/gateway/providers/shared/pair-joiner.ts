/**
 * Text that comes in pieces, so that no piece ends within a surrogate pair: clients decode each piece for itself, and
 * half a character is none.
 */
export type PairJoiner = {
  /** What of the text so far is whole. */
  add(text: string): string;
  /** What was held back, when nothing more comes: half a character reads as U+FFFD. */
  rest(): string;
};

export function createPairJoiner(): PairJoiner {
  let held = "";
  return {
    add: (text) => {
      const joined = held + text;
      held = /[\uD800-\uDBFF]$/.test(joined) ? joined.slice(-1) : "";
      return joined.slice(0, joined.length - held.length).toWellFormed();
    },
    rest: () => {
      const rest = held.toWellFormed();
      held = "";
      return rest;
    },
  };
}
