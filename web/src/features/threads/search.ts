import { choiceOf, textOf } from "../../lib/search.ts";

export const threadSorts = ["-timestamp", "-total_cost", "-total_tokens", "-log_count"] as const;
export type ThreadSort = (typeof threadSorts)[number];

export type ThreadsSearch = {
  /** The open thread. */
  thread?: string | undefined;
  /** A text contained in the id of the thread or customer. */
  find?: string | undefined;
  sort?: ThreadSort | undefined;
};

export function parseThreadsSearch(search: Record<string, unknown>): ThreadsSearch {
  const thread = textOf(search, "thread");
  const find = textOf(search, "find");
  const sort = choiceOf(search, "sort", threadSorts);
  return { ...(thread !== undefined && { thread }), ...(find !== undefined && { find }), ...(sort && { sort }) };
}
