/** Undoes steps, the last one first. If one fails, the others are still undone; then the first error is thrown. */
export async function undoAll(steps: Array<() => Promise<void> | void>): Promise<void> {
  const failures: unknown[] = [];
  for (const undo of steps.splice(0).reverse()) {
    try {
      await undo();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
