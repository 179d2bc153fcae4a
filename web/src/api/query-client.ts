import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api-error.ts";

const maxTries = 2;

/** Retries only if the server was busy or unreachable, never if it rejected the request. */
function isWorthAnotherTry(tries: number, error: Error): boolean {
  if (tries >= maxTries) return false;
  return !(error instanceof ApiError) || error.status === 502 || error.status === 503 || error.status === 504;
}

/** @param onSignedOut called when a request was rejected because the session is missing or expired */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: Error): void => {
    if (error instanceof ApiError && error.status === 401) onSignedOut();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({
      onError: (error, _variables, _onMutateResult, { meta }) => meta?.["isSignIn"] !== true && onError(error),
    }),
    defaultOptions: {
      queries: { retry: isWorthAnotherTry, staleTime: 15_000, gcTime: 300_000, refetchOnWindowFocus: false },
      mutations: { retry: false },
    },
  });
}
