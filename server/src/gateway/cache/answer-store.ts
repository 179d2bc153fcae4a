/** An answer that is kept to be given again. */
export type KeptAnswer = {
  /** A chat completion in JSON: as the provider sent it, or as its stream adds up to. */
  body: Buffer;
  /** Who answered. */
  provider: string;
  model: string;
  /** Parameters that it was not asked for as the caller put them. */
  adjusted: readonly string[];
  /** Milliseconds since the epoch. */
  keptAtMs: number;
};

export type FoundAnswer = { key: string; answer: KeptAnswer };

/** Where answers are kept. It forgets as it likes: what it lost costs a call of a provider, never an error. */
export type AnswerStore = {
  /** The answer under the first of the keys that has one kept since `sinceMs`. Never rejects. */
  find(keys: readonly string[], sinceMs: number): Promise<FoundAnswer | undefined>;
  /** Off the caller's path. Never throws. */
  keep(key: string, answer: KeptAnswer, ttlMs: number): void;
};
