/** A stored answer. */
export type CachedAnswer = {
  /** A chat completion in JSON: as the provider sent it, or as its stream adds up to. */
  body: Buffer;
  /** The provider that answered. */
  provider: string;
  model: string;
  /** Parameters that were changed or omitted for the provider. */
  adjusted: readonly string[];
  /** Milliseconds since the epoch. */
  keptAtMs: number;
};

export type FoundAnswer = { key: string; answer: CachedAnswer };

/** A store for answers. It may forget at any time: a lost answer costs a provider call, never an error. */
export type AnswerStore = {
  /** The answer under the first of the keys that has one stored since `sinceMs`. Never rejects. */
  find(keys: readonly string[], sinceMs: number): Promise<FoundAnswer | undefined>;
  /** Works off the caller's path. Never throws. */
  keep(key: string, answer: CachedAnswer, ttlMs: number): void;
};
