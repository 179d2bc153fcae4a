import { storageLimits } from "../../limits.ts";

/** Remembers what looks at rows found until any rows come in or go. */
export type LookMemory = {
  read<T>(key: string, look: () => Promise<T>): Promise<T>;
  during<T>(write: () => Promise<T>): Promise<T>;
};

export function createLookMemory(): LookMemory {
  const found = new Map<string, unknown>();
  let begun = 0;
  let underWay = 0;
  return {
    async read<T>(key: string, look: () => Promise<T>): Promise<T> {
      // A key says what is looked for, and so of which type it is.
      if (found.has(key)) return found.get(key) as T;
      const before = begun;
      const isQuiet = underWay === 0;
      const result = await look();
      if (isQuiet && before === begun) {
        if (found.size >= storageLimits.rememberedLooks) found.clear();
        found.set(key, result);
      }
      return result;
    },
    async during(write) {
      begun += 1;
      underWay += 1;
      found.clear();
      try {
        return await write();
      } finally {
        underWay -= 1;
      }
    },
  };
}
