/**
 * Gives what chDB has freed back to the system, again and again: its allocator does so by itself only where it goes on working,
 * and merges free the most of it, up to minutes after the work that brought them. Costs nothing where nothing was freed.
 */
export function repeatRelease(everyMs: number, release: () => Promise<unknown>): { stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const wait = (): void => {
    if (isStopped) return;
    timer = setTimeout(() => {
      // What cannot be given back now is so the next time.
      void release().then(wait, wait);
    }, everyMs).unref();
  };
  wait();
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
