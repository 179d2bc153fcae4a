/**
 * Joins text pieces so that no piece ends within a surrogate pair: clients decode each piece separately, and half a
 * pair is not a valid character.
 */
export type PairJoiner = {
  /** The new text up to the last complete character. */
  add(text: string): string;
  /** The text that was held back, at the end: half a pair becomes U+FFFD. */
  rest(): string;
};

export function createPairJoiner(): PairJoiner {
  let pending = "";
  return {
    add: (text) => {
      const joined = pending + text;
      pending = /[\uD800-\uDBFF]$/.test(joined) ? joined.slice(-1) : "";
      return joined.slice(0, joined.length - pending.length).toWellFormed();
    },
    rest: () => {
      const rest = pending.toWellFormed();
      pending = "";
      return rest;
    },
  };
}
