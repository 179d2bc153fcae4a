import { useMutation, useQueryClient } from "@tanstack/react-query";
import { bodyOf, type Api } from "../../api/client.ts";
import { useApi, useApiQuery } from "../../api/use-api.ts";
import type { OwnPrice } from "./own-price.ts";
import type { PriceFields } from "./price-form.ts";

/** The catalogue does not change while the server runs. */
export function useCatalogue() {
  return useApiQuery(
    ["catalogue"],
    async (api, signal) => (await bodyOf(api.GET("/api/models/public", { signal }))).models,
    { staleTime: Number.POSITIVE_INFINITY },
  );
}

export function useOwnPrices() {
  return useApiQuery(["own-prices"], allPrices, { staleTime: 30_000 });
}

/** Loads all pages, since a model's price depends on all of them. The server bounds their number. */
async function allPrices(api: Api, signal: AbortSignal): Promise<OwnPrice[]> {
  const prices: OwnPrice[] = [];
  for (let page = 1; ; page += 1) {
    const params = { query: { page, page_size: 1000 } };
    // A page is asked for when the one before it says that there is more.
    // oxlint-disable-next-line no-await-in-loop
    const { results, next } = await bodyOf(api.GET("/api/model-prices/", { params, signal }));
    prices.push(...results);
    if (next === null || results.length === 0) return prices;
  }
}

/** A mutation of prices, which both environments share. */
function usePriceChange<In, Out>(change: (api: Api, given: In) => Promise<Out>) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (given: In) => change(api, given),
    onSuccess: () => queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === "own-prices" }),
  });
}

/** Updates the price with the id; without an id, creates one. */
export const useSavePrice = () =>
  usePriceChange((api, { id, fields: body }: { id: string | undefined; fields: PriceFields }) =>
    id === undefined
      ? bodyOf(api.POST("/api/model-prices/", { body }))
      : bodyOf(api.PATCH("/api/model-prices/{id}/", { params: { path: { id } }, body })),
  );

export const useDeletePrice = () =>
  usePriceChange((api, id: string) => bodyOf(api.DELETE("/api/model-prices/{id}/", { params: { path: { id } } })));
