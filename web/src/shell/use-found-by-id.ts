import { keepPreviousData } from "@tanstack/react-query";
import type { NavigateOptions } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { ApiError } from "../api/api-error.ts";
import { bodyOf, type Api } from "../api/client.ts";
import { useApiQuery } from "../api/use-api.ts";
import type { PaletteOption } from "./rank-options.ts";
import { screens } from "./screens.ts";

const waitMs = 200;
const idCharsMin = 3;

/** Records with exactly this id, in the environment of the page: a span, a trace, a thread, a customer. */
export function useFoundById(text: string): { options: PaletteOption[]; isSearching: boolean } {
  const id = useSettled(text.trim());
  const found = useApiQuery(["by-id", id], (api, signal) => findById(api, id, signal), {
    enabled: id.length >= idCharsMin,
    placeholderData: keepPreviousData,
  });
  const isCurrent = id === text.trim() && id.length >= idCharsMin;
  return { options: isCurrent && !found.isPlaceholderData ? (found.data ?? []) : [], isSearching: found.isFetching };
}

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), waitMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

async function findById(api: Api, id: string, signal: AbortSignal): Promise<PaletteOption[]> {
  const candidates: readonly (PaletteOption & { isFound: Promise<boolean> })[] = [
    {
      label: "Span",
      icon: "logs",
      link: linkTo("/spans/$spanId", { params: { spanId: id } }),
      isFound: exists(
        api.GET("/api/request-logs/{unique_id}/", {
          params: { path: { unique_id: id }, query: { include_fields: "unique_id" } },
          signal,
        }),
      ),
    },
    {
      label: "Trace",
      icon: "trace",
      link: linkTo("/traces/$traceId", { params: { traceId: id } }),
      isFound: exists(
        api.GET("/api/traces/{trace_unique_id}/", {
          params: { path: { trace_unique_id: id }, query: { tree: "flat", page_size: 1 } },
          signal,
        }),
      ),
    },
    {
      label: "Thread",
      icon: "thread",
      link: linkTo("/threads", { search: { thread: id } }),
      isFound: has("/threads") ? hasThread(api, id, signal) : Promise.resolve(false),
    },
    {
      label: "Customer",
      icon: "customers",
      link: linkTo("/customers/$customerId", { params: { customerId: id } }),
      isFound: has("/customers")
        ? exists(
            api.GET("/api/users/{customer_identifier}/", { params: { path: { customer_identifier: id } }, signal }),
          )
        : Promise.resolve(false),
    },
  ];
  const answers = await Promise.all(candidates.map(({ isFound }) => isFound));
  return candidates.flatMap(({ label, icon, link }, at) =>
    answers[at] === true ? [{ label, icon, link, detail: id }] : [],
  );
}

const has = (path: string): boolean => screens.some(({ to }) => to === path);

/** Safe because the paths are those of the router, and screens validate their own parameters. */
function linkTo(to: string, rest: object): NavigateOptions {
  return { to, ...rest } as NavigateOptions;
}

/** A forbidden record counts as missing. Other failures are ignored too: the list shows what was found. */
async function exists(answer: Promise<unknown>): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) throw error;
    return false;
  }
}

/** Threads have no route of their own: the list over all time is filtered by the id. */
async function hasThread(api: Api, id: string, signal: AbortSignal): Promise<boolean> {
  const filters = JSON.stringify({ thread_identifier: { operator: "", value: [id] } });
  const query = { start_time: "2020-01-01T00:00:00Z", page_size: 1, filters };
  const answer = bodyOf(api.GET("/api/log_threads/", { params: { query }, signal }));
  return answer.then(
    ({ results }) => results.length > 0,
    () => false,
  );
}
