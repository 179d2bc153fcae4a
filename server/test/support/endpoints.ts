import { apiEndpoints, type ApiDeps } from "../../src/api/index.ts";
import { createScoreSources } from "../../src/filter/score-sources.ts";
import { createSpanCatalogue } from "../../src/filter/span-fields.ts";
import type { AnyEndpoint } from "../../src/http/endpoint.ts";

/** Every operation except those of the system, as values: their handlers have no dependencies. */
export function everyEndpoint(): AnyEndpoint[] {
  const nothing: unknown = new Proxy(() => nothing, { get: () => nothing });
  const given = { catalogue: createSpanCatalogue(createScoreSources()) };
  const deps = new Proxy({}, { get: (_all, name) => Reflect.get(given, name) ?? nothing, ownKeys: () => [] });
  return apiEndpoints(deps as ApiDeps);
}
