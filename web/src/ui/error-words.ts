import { ApiError } from "../api/api-error.ts";
import { PageOutdatedError } from "../api/load-code.ts";

/** The text of an error for people: what happened, and what may help. */
export function errorWords(error: unknown): { title: string; detail: string } {
  if (!(error instanceof ApiError)) {
    const isAway = error instanceof TypeError && /fetch|network|load failed/i.test(error.message);
    if (isAway) return { title: "The server does not respond", detail: "Is it running? You can try again." };
    if (error instanceof PageOutdatedError) return { title: "Spanway was updated", detail: error.message };
    return { title: "This could not be shown", detail: error instanceof Error ? error.message : String(error) };
  }
  const wait = error.retryAfterS === undefined ? "" : ` Try again in ${error.retryAfterS} s.`;
  const titles: Readonly<Record<number, string>> = {
    401: "You are signed out",
    403: "Your role does not permit this",
    404: "Not found",
    413: "This is too large",
    424: "The provider failed",
    429: "Too many requests",
    503: "The server is busy",
  };
  const title = titles[error.status] ?? (error.status >= 500 ? "The server failed" : "The request was refused");
  return { title, detail: `${error.message}${wait}` };
}
