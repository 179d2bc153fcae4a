import { limits } from "../../../limits.ts";

/** Tells a read whether rows that share a key with others may have come in while it ran. */
export type ResendWatch = {
  /** The same before and after a read: none came in. Undefined while some are coming in. */
  state(): number | undefined;
  during<T>(write: () => Promise<T>): Promise<T>;
  /** Whether the last read of a kind (an organisation, and what the read has to know) met neither a row of these nor usage that is restated. */
  wasPlain(kind: string): boolean;
  found(kind: string, what: { isPlain: boolean }): void;
};

export function createResendWatch(): ResendWatch {
  let begun = 0;
  let underWay = 0;
  const plain = new Set<string>();
  return {
    state: () => (underWay === 0 ? begun : undefined),
    async during(write) {
      begun += 1;
      underWay += 1;
      try {
        return await write();
      } finally {
        underWay -= 1;
      }
    },
    wasPlain: (kind) => plain.has(kind),
    found(kind, { isPlain }) {
      if (!isPlain) plain.delete(kind);
      else if (plain.size < limits.plainOrganizations) plain.add(kind);
      else plain.clear();
    },
  };
}
