/** The code of a part is gone: the server is there, and serves a newer page. */
export class PageOutdatedError extends Error {
  constructor() {
    super("Its code has changed since this page was loaded.");
  }
}

/**
 * Loads code that comes later.
 * @throws TypeError that the server does not answer
 * @throws PageOutdatedError
 */
export async function loadCode<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch {
    await fetch("/", { method: "HEAD" });
    throw new PageOutdatedError();
  }
}
