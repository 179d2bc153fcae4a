import type { IncomingHttpHeaders } from "node:http";
import { ServiceError } from "../domain/errors.ts";
import { environments, requirePermission, type Environment, type Principal } from "../domain/principal.ts";
import type { KeyPrincipal, UserPrincipal } from "../domain/principal.ts";
import type { Permission } from "../domain/permissions.ts";
import { httpLimits } from "./limits.ts";
import { unauthorized, type Auth, type Authenticator } from "./authenticate.ts";

/**
 * Requests of a browser that is signed in by a cookie. A browser sends the cookie with requests from any page, so a
 * request is accepted only if a page of this server made it (ADR 0041).
 */

/**
 * The parts of a request that are read. `origins` are this server's own: from the request's address and from the
 * operator's settings.
 */
type PageRequest = { headers: IncomingHttpHeaders; origins: readonly string[] };

/** Over TLS, browsers let only this exact host set a cookie with this name, and only for all of its paths. */
const secureName = "__Host-spanway_session";
const plainName = "spanway_session";

const headerName = "X-Spanway-Environment";

/**
 * The ids in the cookie. A browser sends several if one was also set for another path or domain; only the store knows
 * which one is a session. Over TLS, the name that other hosts of the domain cannot set takes precedence.
 */
export function sessionIdsIn(request: PageRequest): string[] {
  const { cookie } = request.headers;
  if (cookie === undefined) return [];
  const ids = valuesOf(cookie, secureName);
  return ids.length > 0 || isSecure(request) ? ids : valuesOf(cookie, plainName);
}

function valuesOf(cookies: string, name: string): string[] {
  const pairs = cookies.split(";").filter((part) => part.trimStart().startsWith(`${name}=`));
  const ids = pairs.flatMap((pair) => /=([0-9A-Za-z]+)\s*$/.exec(pair)?.[1] ?? []);
  return [...new Set(ids)].slice(0, httpLimits.sessionCookies);
}

/**
 * Headers that set the browser's session cookie, or remove it if `id` is "" and `ends_in` is 0. `ends_in` is in
 * seconds.
 */
export function sessionHeaders(
  request: PageRequest,
  { id, ends_in }: { id: string; ends_in: number },
): { "set-cookie": string } {
  const secure = isSecure(request);
  const attributes = `Path=/; Max-Age=${ends_in}; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
  return { "set-cookie": `${secure ? secureName : plainName}=${id}; ${attributes}` };
}

function isSecure({ headers, origins }: PageRequest): boolean {
  const { origin } = headers;
  const reached = origin !== undefined && origins.includes(origin) ? origin : origins[0];
  return reached?.startsWith("https://") === true;
}

/** Throws `forbidden` if a page of another origin sent the request. */
export function refuseForeignPage({ headers, origins }: PageRequest): void {
  const { origin, "sec-fetch-site": site } = headers;
  const isForeign = site !== undefined && site !== "same-origin" && site !== "none";
  if (origin !== undefined && !origins.includes(origin)) {
    throw refused(
      `the Origin ${JSON.stringify(origin)} is not this server's own, ${origins.join(" or ")}. Behind a proxy, set ` +
        "SPANWAY_TRUST_PROXY or SPANWAY_PUBLIC_URL",
    );
  }
  if (isForeign) throw refused(`Sec-Fetch-Site must be same-origin, and is ${JSON.stringify(site)}`);
}

/**
 * Returns the environment that a page of this server names; reads need not name one. Throws `forbidden` naming what a
 * request lacks, and `invalid_request` if the environment does not exist.
 */
export function requireOwnPage(method: string, request: PageRequest): Environment {
  const { origin, "x-spanway-environment": named } = request.headers;
  const isRead = method === "GET" || method === "HEAD";
  if (!isRead && named === undefined) throw refused(`the header ${headerName} is missing: send prod or test`);
  if (!isRead && origin === undefined) throw refused("the header Origin is missing");
  refuseForeignPage(request);
  const environment = environments.find((each) => each === (named ?? "prod"));
  if (environment !== undefined) return environment;
  throw new ServiceError("invalid_request", `The header ${headerName} must be prod or test.`);
}

function refused(why: string): ServiceError {
  return new ServiceError("forbidden", `This request with a session cookie was refused: ${why}.`);
}

/**
 * Like `authenticate`, for the session in a cookie. Returns the person, or, if the route takes a key, the person in one
 * environment.
 */
export async function authenticateBrowser(
  authenticator: Authenticator,
  { auth, permission }: { auth: Exclude<Auth, "none">; permission: Permission | undefined },
  { method, request, ids }: { method: string; request: PageRequest; ids: readonly string[] },
): Promise<Principal> {
  const environment = requireOwnPage(method, request);
  let user: UserPrincipal | undefined;
  for (const id of ids) user ??= await authenticator.authenticateBrowser(id);
  if (user === undefined) throw unauthorized();
  if (permission !== undefined) requirePermission(user, permission);
  return auth === "user" ? user : inEnvironment(user, environment);
}

/** The principal that a temporary key of this person would have. */
function inEnvironment(user: UserPrincipal, environment: Environment): KeyPrincipal {
  return {
    kind: "key",
    organization_id: user.organization_id,
    environment,
    organization_key_id: "",
    organization_key_name: user.email,
    permissions: user.permissions,
    user_id: user.user_id,
  };
}
