import { ServiceError } from "../domain/errors.ts";
import type { AnyEndpoint, Method } from "./endpoint.ts";
import { errorReply } from "./error-reply.ts";
import { Reply } from "./reply.ts";
import { routeOf, type Route } from "./serve.ts";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
type AnyMethod = (typeof methods)[number];

type AddRoute = (method: AnyMethod, url: string, route: Route) => void;

/**
 * Adds the routes of the endpoints: their aliases, HEAD for every GET, and on each path a 405 response for the other
 * methods. Throws if two endpoints declare the same method and path.
 */
export function mount(endpoints: readonly AnyEndpoint[], add: AddRoute): void {
  /** By path without parameter names: `/a/{x}` and `/a/{y}` are one place with one set of methods. */
  const places = new Map<string, { path: string; endpoint: AnyEndpoint; taken: Set<AnyMethod> }>();

  for (const endpoint of endpoints) {
    for (const { method, path } of locationsOf(endpoint)) {
      const shape = path.replace(/\{\w+\}/g, "{}");
      const place = places.get(shape) ?? { path, endpoint, taken: new Set() };
      places.set(shape, place);
      const route = routeOf(endpoint, path);
      for (const each of method === "GET" ? (["GET", "HEAD"] as const) : [method]) {
        if (place.taken.has(each)) throw new Error(`${each} ${path} is declared twice (by ${endpoint.id})`);
        place.taken.add(each);
        add(each, toRouterPath(path), route);
      }
    }
  }
  for (const { path, endpoint, taken } of places.values()) {
    const route = methodNotAllowed(endpoint, [...taken]);
    for (const method of methods) if (!taken.has(method)) add(method, toRouterPath(path), route);
  }
}

/** Every method and path of an endpoint, without trailing slashes; the canonical one first. */
export function locationsOf(endpoint: AnyEndpoint): { method: Method; path: string }[] {
  const declared = [{ method: endpoint.method, path: endpoint.path }];
  for (const alias of endpoint.aliases) {
    declared.push(typeof alias === "string" ? { method: endpoint.method, path: alias } : alias);
  }
  return declared.map(({ method, path }) => ({ method, path: path.replace(/(?<=.)\/$/, "") }));
}

function toRouterPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

function methodNotAllowed(endpoint: AnyEndpoint, allowed: readonly string[]): Route {
  const allow = allowed.join(", ");
  return {
    pattern: endpoint.path,
    dialect: endpoint.dialect,
    async answer(_kernel, context) {
      const error = new ServiceError("method_not_allowed", `This path supports only ${allow}.`);
      const { dialect } = endpoint;
      const requestContentType = context.contentType;
      const refused = errorReply(error, { dialect, requestId: context.requestId, requestContentType });
      return new Reply(refused.status, refused.payload, { ...refused.headers, allow });
    },
  };
}
