import type { IncomingHttpHeaders } from "node:http";
import { prefersHtml } from "../accept.ts";
import { chooseCoding } from "../content-coding.ts";
import type { RequestContext } from "../context.ts";
import type { AnyEndpoint } from "../endpoint.ts";
import { locationsOf } from "../mount.ts";
import { content, Reply } from "../reply.ts";
import type { Route } from "../serve.ts";
import type { BuiltPage, PageFile } from "./built-page.ts";

type PageRequest = { method: string; url: string; accept: string | undefined };

/** Allows only the page's own scripts and styles; the data that it shows may be hostile. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob: data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const unbuilt =
  "The web application is not built. Run `npm ci`, or `npm run build:web`, and start the server again. " +
  "The API works without it; /openapi.json describes it.\n";

/**
 * Returns the route of a request that no endpoint matches: a file of the page, or the page itself if a browser
 * navigates. Undefined for all others: API callers get API errors, also on paths below those of its endpoints.
 */
export function pageRoutes(
  page: BuiltPage | undefined,
  endpoints: readonly AnyEndpoint[],
): (request: PageRequest) => Route | undefined {
  const taken = new Set(["v1", "v1beta", ...endpoints.flatMap(locationsOf).map(({ path }) => firstSegment(path))]);
  const index = page?.get("/index.html");
  return ({ method, url, accept }) => {
    if (method !== "GET" && method !== "HEAD") return undefined;
    const path = pathOf(url);
    const file = path === "/index.html" ? undefined : page?.get(path);
    if (file !== undefined) return routeOf("page file", (context) => answerFile(context, file));
    if (taken.has(firstSegment(path)) || !wantsPage(path, accept)) return undefined;
    return routeOf("page", (context) => (index === undefined ? answerUnbuilt() : answerFile(context, index)));
  };
}

function routeOf(pattern: string, answer: (context: RequestContext) => Reply): Route {
  return { pattern, dialect: "default", answer: async (_kernel, context) => answer(context) };
}

/** Whether the request is for the application: a browser's at any path, and at the root also that of a tool such as curl. */
function wantsPage(path: string, accept: string | undefined): boolean {
  return prefersHtml(accept, path === "/" ? "any" : "named");
}

function pathOf(url: string): string {
  return url.replace(/^https?:\/\/[^/?]*/i, "").replace(/[?#].*$/s, "");
}

function firstSegment(path: string): string {
  return path.split("/", 2)[1] ?? "";
}

const pageHeaders = {
  "content-security-policy": contentSecurityPolicy,
  // URLs are not sent to other hosts. With `no-referrer` browsers would send `Origin: null` for forms.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

export function answerUnbuilt(): Reply {
  return content("text/plain; charset=utf-8", unbuilt, { status: 503, headers: pageHeaders });
}

/** Returns the file in a coding that the request accepts; 304 if the client has it already. */
export function answerFile({ headers }: { headers: IncomingHttpHeaders }, file: PageFile): Reply {
  const { contentType, hash, identity, br, gzip } = file;
  const codings = (["br", "gzip"] as const).filter((coding) => file[coding] !== undefined);
  const coding = chooseCoding(headers["accept-encoding"], codings);
  // The bytes of each coding differ, and a strong ETag identifies bytes.
  const etag = coding === undefined ? `"${hash}"` : `"${hash}-${coding}"`;
  const sent = {
    ...pageHeaders,
    etag,
    ...(codings.length > 0 && { vary: "accept-encoding" }),
    // The names of all other files change with their content.
    "cache-control": contentType.startsWith("text/html") ? "no-cache" : "public, max-age=31536000, immutable",
  };
  if (isKnown(headers["if-none-match"], etag)) return new Reply(304, undefined, sent);
  const data = coding === undefined ? identity : ({ br, gzip }[coding] ?? identity);
  return content(contentType, data, { headers: { ...sent, ...(coding && { "content-encoding": coding }) } });
}

function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = new Set((ifNoneMatch ?? "").split(",").map((each) => each.trim().replace(/^W\//, "")));
  return known.has(etag) || known.has("*");
}
