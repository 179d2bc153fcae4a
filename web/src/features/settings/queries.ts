import { keepPreviousData, useMutation, useQueryClient } from "@tanstack/react-query";
import { bodyOf, type Api } from "../../api/client.ts";
import type { components, operations } from "../../api/schema.gen.ts";
import { fetchMetrics, fetchReadiness, fetchVersion } from "../../api/system.ts";
import { useApi, useApiQuery } from "../../api/use-api.ts";

export type Member = components["schemas"]["Member"];
export type ApiKey = operations["list_api_keys"]["responses"][200]["content"]["application/json"]["results"][number];
type NewKey = NonNullable<operations["create_api_key"]["requestBody"]>["content"]["application/json"];
type Organization = NonNullable<operations["update_organization"]["requestBody"]>["content"]["application/json"];

const pageSize = 50;

export function useMembers(page: number) {
  const query = { page, page_size: pageSize };
  return useApiQuery(
    ["members", page],
    (api, signal) => bodyOf(api.GET("/api/members/", { params: { query }, signal })),
    { placeholderData: keepPreviousData },
  );
}

export function useApiKeys(page: number) {
  const query = { page, page_size: pageSize };
  return useApiQuery(
    ["api-keys", page],
    (api, signal) => bodyOf(api.GET("/api/api-keys/", { params: { query }, signal })),
    { placeholderData: keepPreviousData },
  );
}

export function useAuditLog(page: number) {
  const query = { page, page_size: pageSize };
  return useApiQuery(
    ["audit-log", page],
    (api, signal) => bodyOf(api.GET("/api/audit-log/", { params: { query }, signal })),
    { placeholderData: keepPreviousData },
  );
}

/** The current names of people and keys, by id. */
export function useNames(): ReadonlyMap<string, string> {
  const query = { page: 1, page_size: 1000 };
  const members = useApiQuery(["members", "names"], (api, signal) =>
    bodyOf(api.GET("/api/members/", { params: { query }, signal })),
  );
  const keys = useApiQuery(["api-keys", "names"], (api, signal) =>
    bodyOf(api.GET("/api/api-keys/", { params: { query }, signal })),
  );
  return new Map([
    ...(members.data?.results ?? []).map(({ id, email }) => [id, email] as const),
    ...(keys.data?.results ?? []).map(({ id, name }) => [id, `key “${name}”`] as const),
  ]);
}

/** The number of pages of a list with this many entries. */
export function pagesOf(count: number): number {
  return Math.max(1, Math.ceil(count / pageSize));
}

/** A mutation that invalidates the lists whose keys start with these names. */
function useChange<In, Out>(names: readonly string[], change: (api: Api, given: In) => Promise<Out>) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (given: In) => change(api, given),
    onSuccess: () => queries.invalidateQueries({ predicate: ({ queryKey }) => names.includes(String(queryKey[1])) }),
  });
}

export const useInvite = () =>
  useChange(["members"], (api, body: { email: string; role: Member["role"] }) =>
    bodyOf(api.POST("/api/members/", { body })),
  );

export const useChangeRole = () =>
  useChange(["members", "me"], (api, { id, role }: { id: string; role: Member["role"] }) =>
    bodyOf(api.PATCH("/api/members/{id}/", { params: { path: { id } }, body: { role } })),
  );

export const useRemoveMember = () =>
  useChange(["members"], (api, id: string) => bodyOf(api.DELETE("/api/members/{id}/", { params: { path: { id } } })));

export const useCreateKey = () =>
  useChange(["api-keys"], (api, body: NewKey) => bodyOf(api.POST("/api/api-keys/", { body })));

export const useDeleteKey = () =>
  useChange(["api-keys"], (api, id: string) => bodyOf(api.DELETE("/api/api-keys/{id}/", { params: { path: { id } } })));

export const useChangeOrganization = () =>
  useChange(["me"], (api, { id, body }: { id: string; body: Organization }) => {
    const params = { path: { unique_organization_id: id } };
    return bodyOf(api.PATCH("/api/organizations/{unique_organization_id}/", { params, body }));
  });

export type Session = operations["list_sessions"]["responses"][200]["content"]["application/json"]["results"][number];

export const useSessions = () =>
  useApiQuery(["sessions"], (api, signal) => bodyOf(api.GET("/api/auth/sessions/", { signal })));

export const useEndSession = () =>
  useChange(["sessions"], (api, id: string) =>
    bodyOf(api.DELETE("/api/auth/sessions/{id}/", { params: { path: { id } } })),
  );

/** The response replaces this browser's session; all other sessions end. */
export const useChangePassword = () =>
  useChange(["sessions"], (api, body: { current_password: string; new_password: string }) =>
    bodyOf(api.POST("/api/auth/password/", { body })),
  );

const everyMs = 5000;

export const useReadiness = () =>
  useApiQuery(["readiness"], (_api, signal) => fetchReadiness(signal), { refetchInterval: everyMs });

export const useMetrics = () =>
  useApiQuery(["metrics"], (_api, signal) => fetchMetrics(signal), { refetchInterval: everyMs });

export const useVersion = () =>
  useApiQuery(["version"], (_api, signal) => fetchVersion(signal), { staleTime: Number.POSITIVE_INFINITY });
