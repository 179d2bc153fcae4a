/** The server responds but no longer has this code: it serves a newer version of the page. */
export class PageOutdatedError extends Error {
  constructor() {
    super("Its code has changed since this page was loaded.");
  }
}

/**
 * Loads code on demand.
 * @throws TypeError if the server does not respond
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
