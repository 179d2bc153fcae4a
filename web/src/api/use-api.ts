import { queryOptions, useQuery, type UseQueryOptions, type UseQueryResult } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { createApi, type Api, type Environment } from "./client.ts";

/** The environment in the URL. */
export function useEnvironment(): Environment {
  return useSearch({ strict: false, select: ({ env }) => env }) ?? "prod";
}

/** The API in the environment of the URL. */
export function useApi(): Api {
  const environment = useEnvironment();
  return useMemo(() => createApi(environment), [environment]);
}

type Options<T> = Omit<UseQueryOptions<T, Error, T>, "queryKey" | "queryFn">;

/** A query in the environment of the URL, which is part of its key. Aborted when no component uses it any more. */
export function useApiQuery<T>(
  key: readonly unknown[],
  request: (api: Api, signal: AbortSignal) => Promise<T>,
  options: Options<T> = {},
): UseQueryResult<T> {
  const api = useApi();
  const environment = useEnvironment();
  return useQuery(
    queryOptions({ ...options, queryKey: [environment, ...key], queryFn: ({ signal }) => request(api, signal) }),
  );
}
