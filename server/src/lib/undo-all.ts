/** Takes steps back, the last one first. One that fails keeps none of the others from it; what failed first is thrown after all. */
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
