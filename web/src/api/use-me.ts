import { useMutation, useQueryClient } from "@tanstack/react-query";
import { bodyOf, createApi } from "./client.ts";
import type { operations } from "./schema.gen.ts";
import { useSessionWatch } from "./session-watch.ts";
import { useApi, useApiQuery } from "./use-api.ts";

export type Me = operations["get_me"]["responses"][200]["content"]["application/json"];

export type Permission = Me["permissions"][number];

const fetchMe = (api: ReturnType<typeof createApi>, signal?: AbortSignal): Promise<Me> =>
  bodyOf(api.GET("/api/auth/me/", signal === undefined ? {} : { signal }));

/**
 * The signed-in person: role, permissions and organization. Refetched when the tab regains focus: another tab may have
 * signed in.
 */
export function useMe() {
  return useApiQuery(["me"], fetchMe, { staleTime: 30_000, refetchOnWindowFocus: true });
}

/** The signed-in person's e-mail; null until it is known. */
export function useEmail(): string | null {
  return useMe().data?.email ?? null;
}

/** Whether this browser has a session. */
export function useIsSignedIn(): boolean {
  return useApiQuery(["me"], fetchMe, { staleTime: 30_000 }).data !== undefined;
}

/** Identifies person and organization: cached data of one identity must not be shown to another. */
export function identityOf({ id, organization }: Me): string {
  return `${id} ${organization.unique_organization_id}`;
}

/**
 * Whether the signed-in person's role grants the permission. False until that is known.
 * @public
 */
export function useCan(permission: Permission): boolean {
  return useMe().data?.permissions.includes(permission) ?? false;
}

export function useSignIn() {
  return useMutation({
    async mutationFn({ email, password }: { email: string; password: string }) {
      const api = createApi("prod");
      await api.POST("/api/auth/login/", { body: { email, password, session: true } });
      return fetchMe(api);
    },
    // A wrong password is reported in the form and does not end a session.
    meta: { isSignIn: true },
  });
}

/** Ends the session of this browser and discards all cached data. */
export function useSignOut() {
  const api = useApi();
  const queries = useQueryClient();
  const watch = useSessionWatch();
  return useMutation({
    mutationFn: () => api.POST("/api/auth/logout/"),
    onSuccess() {
      queries.clear();
      watch.notifyOtherTabs({ kind: "signed-out" });
      // A full page load: nothing of the person stays in memory.
      location.assign("/login");
    },
  });
}
