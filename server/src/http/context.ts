import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { randomUUID } from "node:crypto";
import { ServiceError } from "../domain/errors.ts";
import type { Principal } from "../domain/principal.ts";
import type { BodyReservation } from "./body-memory.ts";
import { corsHeaders } from "./cors.ts";
import type { AnyEndpoint, Context, InnerRequest } from "./endpoint.ts";
import type { Incoming } from "./incoming.ts";
import type { Kernel } from "./kernel.ts";
import { httpLimits } from "./limits.ts";
import { perform } from "./perform.ts";
import type { Reply } from "./reply.ts";
import type { ResponseWriter } from "./response-writer.ts";

/**
 * One request while the kernel processes it. Values that only some handlers need (signal, URLs) are computed on demand.
 */
export class RequestContext implements Context {
  readonly requestId: string;
  readonly startedAtMs: number;
  readonly incoming: Incoming;
  readonly response: ResponseWriter;
  principal: Principal | undefined;
  params: unknown;
  query: unknown;
  body: unknown;
  hijacked = false;
  /** The whole response was sent, although the connection still receives the rest of the request. */
  isAnswered = false;
  /** The memory hold of its body, once the body is read. */
  bodyReservation: BodyReservation | undefined;
  /** Extra response headers, set if the body was refused. */
  refusalHeaders: OutgoingHttpHeaders | undefined;

  readonly #kernel: Kernel;
  readonly #startedMs = performance.now();
  #abort: AbortController | undefined;
  #isDisconnected = false;

  constructor(kernel: Kernel, incoming: Incoming, response: ResponseWriter) {
    this.#kernel = kernel;
    this.startedAtMs = kernel.now();
    this.incoming = incoming;
    this.response = response;
    this.requestId = requestIdOf(incoming.headers["x-request-id"]);
  }

  get method(): string {
    return this.incoming.method;
  }

  get headers(): IncomingHttpHeaders {
    return this.incoming.headers;
  }

  get ip(): string {
    return this.incoming.ip;
  }

  /** The media type of the body, lower-case and without parameters, or "". */
  get contentType(): string {
    const header = this.incoming.headers["content-type"] ?? "";
    // Fast path: nearly all requests send exactly this.
    if (header === "application/json") return header;
    const end = header.indexOf(";");
    return (end === -1 ? header : header.slice(0, end)).trim().toLowerCase();
  }

  get rawQuery(): URLSearchParams {
    return new URLSearchParams(this.search);
  }

  get search(): string {
    const { url } = this.incoming;
    const start = url.indexOf("?");
    return start === -1 ? "" : url.slice(start);
  }

  get url(): URL {
    const { url } = this.incoming;
    // A request line may contain an absolute URL, as sent to a proxy; only its path is trusted.
    const path = url.replace(/^https?:\/\/[^/?]*/i, "");
    return new URL(baseUrlOf(this.#kernel.publicUrl, this.incoming, this.#kernel.listeningUrl()) + path);
  }

  get origins(): readonly string[] {
    const { publicUrl, listeningUrl } = this.#kernel;
    const reached = new URL(baseUrlOf(undefined, this.incoming, listeningUrl())).origin;
    return publicUrl === undefined ? [reached] : [...new Set([reached, new URL(publicUrl).origin])];
  }

  /** Headers that let a page of another origin read the response. */
  get corsHeaders(): OutgoingHttpHeaders | undefined {
    const { corsOrigins } = this.#kernel;
    return corsOrigins === undefined ? undefined : corsHeaders(corsOrigins, this.headers.origin);
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#isDisconnected) this.#abort.abort();
    return this.#abort.signal;
  }

  /** Whether the client closed the connection before it had the whole response. */
  get isDisconnected(): boolean {
    return this.#isDisconnected;
  }

  elapsedMs(): number {
    return performance.now() - this.#startedMs;
  }

  hijack(): ResponseWriter {
    this.hijacked = true;
    this.#kernel.hijacked.add(this);
    this.response.setHeader("x-request-id", this.requestId);
    for (const [name, value] of Object.entries(this.corsHeaders ?? {})) this.response.setHeader(name, String(value));
    return this.response;
  }

  perform(endpoint: AnyEndpoint, request: InnerRequest): Promise<Reply> {
    return perform(this.#kernel, endpoint, this, request);
  }

  markDisconnected(): void {
    this.#isDisconnected = true;
    this.#abort?.abort();
  }

  /** Called when the server stops: the handler that writes the response may still send an error, and must end. */
  stop(): void {
    this.#abort?.abort(new ServiceError("unavailable", "The service stopped before the answer was complete."));
  }
}

const sanePattern = /^[\w.:/+=@-]+$/;

/** The caller's own id if it is short and plain, else a new one. */
function requestIdOf(header: string | string[] | undefined): string {
  const sane = typeof header === "string" && header.length <= httpLimits.requestIdChars && sanePattern.test(header);
  return sane ? header : randomUUID();
}

const hostPattern = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;
const protocolPattern = /^https?$/i;
const prefixPattern = /^(?:\/[\w.~-]+)*\/*$/;

/** How the caller reached this server, as the request and the trusted proxies state it. */
type ReachedAt = { protocol: string; host: string; prefix: string };

/**
 * Returns the URL under which the caller reached this server, without a trailing slash: the configured public URL, else
 * the one that the request names, if its parts are a plain protocol, host and path, else the address that the server
 * listens on.
 */
function baseUrlOf(publicUrl: string | undefined, { protocol, host, prefix }: ReachedAt, listening: string): string {
  if (publicUrl !== undefined) return publicUrl.replace(/\/+$/, "");
  const isPlain = protocolPattern.test(protocol) && hostPattern.test(host) && prefixPattern.test(prefix);
  const url = `${protocol}://${host}${prefix.replace(/\/+$/, "")}`;
  return isPlain && URL.canParse(url) ? url : listening;
}
