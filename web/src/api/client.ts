import createClient, { type Client } from "openapi-fetch";
import { ApiError } from "./api-error.ts";
import type { paths } from "./schema.gen.ts";

export type Environment = "prod" | "test";

export type Api = Client<paths>;

/**
 * An API client with the signed-in person's session, in one environment. A response without success status throws an
 * `ApiError`.
 */
export function createApi(environment: Environment): Api {
  const api = createClient<paths>({
    baseUrl: location.origin,
    credentials: "same-origin",
    headers: { "x-spanway-environment": environment },
  });
  api.use({
    async onResponse({ response }) {
      if (!response.ok) throw await ApiError.of(response);
    },
  });
  return api;
}

/** The body of a response: `await bodyOf(api.GET("/api/…", { signal }))`. */
export async function bodyOf<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data } = await answer;
  // Only successful responses arrive here; those without a body have the type undefined.
  return data as T;
}
