import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Api } from "../../api/client.ts";
import { useApi, useEnvironment } from "../../api/use-api.ts";

const lists: ReadonlySet<unknown> = new Set(["conditions", "automations", "evaluators"]);

/** A mutation of one record. It invalidates the lists, and its response becomes the cached `[name, id]`. */
export function useChange<In, Out extends { id: string } | undefined>(
  name: string,
  change: (api: Api, given: In) => Promise<Out>,
) {
  const api = useApi();
  const queries = useQueryClient();
  const environment = useEnvironment();
  return useMutation({
    mutationFn: (given: In) => change(api, given),
    onSuccess: (stored) => {
      if (stored !== undefined) queries.setQueryData([environment, name, stored.id], stored);
      void queries.invalidateQueries({ predicate: ({ queryKey }) => lists.has(queryKey[1]) });
    },
  });
}
