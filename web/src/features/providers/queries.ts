import { useMutation, useQueryClient } from "@tanstack/react-query";
import { bodyOf, type Api } from "../../api/client.ts";
import type { operations } from "../../api/schema.gen.ts";
import { useApi, useApiQuery } from "../../api/use-api.ts";

type Answer<Id extends "list_providers" | "list_known_providers"> =
  operations[Id]["responses"][200]["content"]["application/json"]["results"][number];
export type Setting = Answer<"list_providers">;
export type KnownProvider = Answer<"list_known_providers">;
export type NewSetting = NonNullable<operations["create_provider"]["requestBody"]>["content"]["application/json"];
export type SettingChange = NonNullable<operations["update_provider"]["requestBody"]>["content"]["application/json"];

export function useKnownProviders() {
  return useApiQuery(
    ["providers", "known"],
    async (api, signal) => (await bodyOf(api.GET("/api/providers/known/", { signal }))).results,
  );
}

/** The settings of both environments, oldest first. `isAllowed`: whether the person may read them. */
export function useSettings(isAllowed: boolean) {
  return useApiQuery(["providers", "settings"], allSettings, { enabled: isAllowed });
}

/** Loads all pages. The server bounds their number. */
async function allSettings(api: Api, signal: AbortSignal): Promise<Setting[]> {
  const settings: Setting[] = [];
  for (let page = 1; ; page += 1) {
    const params = { query: { page, page_size: 1000 } };
    // A page is asked for when the one before it says that there is more.
    // oxlint-disable-next-line no-await-in-loop
    const { results, next } = await bodyOf(api.GET("/api/providers/", { params, signal }));
    settings.push(...results);
    if (next === null || results.length === 0) return settings;
  }
}

/** The provider's own names of its callable models. */
export function useModelsOf(provider: string) {
  return useApiQuery(["models", "of", provider], async (api, signal) => {
    const { data } = await bodyOf(api.GET("/api/models", { signal }));
    return data.filter((model) => model.owned_by === provider).map(({ id }) => id.slice(provider.length + 1));
  });
}

const names = new Set<unknown>(["providers", "models"]);

function useChange<In, Out>(change: (api: Api, given: In) => Promise<Out>) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (given: In) => change(api, given),
    onSuccess: () => queries.invalidateQueries({ predicate: ({ queryKey }) => names.has(queryKey[1]) }),
  });
}

export type Saved = { id: string; change: SettingChange } | { id: undefined; made: NewSetting };

export const useSaveSetting = () =>
  useChange((api, saved: Saved) =>
    saved.id === undefined
      ? bodyOf(api.POST("/api/providers/", { body: saved.made }))
      : bodyOf(api.PATCH("/api/providers/{id}/", { params: { path: { id: saved.id } }, body: saved.change })),
  );

export const useDeleteSetting = () =>
  useChange((api, id: string) => bodyOf(api.DELETE("/api/providers/{id}/", { params: { path: { id } } })));
