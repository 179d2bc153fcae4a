/** Tells a read whether rows that share a key with others may have come in while it ran. */
export type ResendWatch = {
  /** The same before and after a read: none came in. Undefined while some are coming in. */
  state(): number | undefined;
  during<T>(write: () => Promise<T>): Promise<T>;
};

export function createResendWatch(): ResendWatch {
  let begun = 0;
  let underWay = 0;
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
  };
}
