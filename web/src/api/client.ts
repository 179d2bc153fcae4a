import createClient, { type Client } from "openapi-fetch";
import { ApiError } from "./api-error.ts";
import type { paths } from "./schema.gen.ts";

export type Environment = "prod" | "test";

export type Api = Client<paths>;

/** The API as the signed-in person in one environment. Every answer that is no success throws an `ApiError`. */
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

/** The body of an answer: `await bodyOf(api.GET("/api/…", { signal }))`. */
export async function bodyOf<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data } = await answer;
  // Only successes arrive here; those without a body have the type undefined.
  return data as T;
}
