import { cleanText } from "../lib/json.ts";
import { deliveryLimits } from "./limits.ts";
import type { ExchangeController, ExchangeHandler } from "../outgoing/http1/exchange-handler.ts";
import type { Pools } from "../outgoing/pools.ts";

/** The result of one attempt. Texts come from the receiver: they are bounded and storable. */
export type SendResult = {
  isDelivered: boolean;
  status: number | null;
  /** The first kilobyte. */
  body: string | null;
  error: string | null;
  /** From the receiver's Retry-After. */
  retryAfterMs: number | undefined;
};

export type Send = (
  request: { url: string; headers: Record<string, string>; body: Buffer },
  signal: AbortSignal,
) => Promise<SendResult>;

/**
 * Sends one POST, with a limit on its whole duration. The response counts once its head has arrived. Of its body, only
 * as much is read as is stored, and at the timeout the connection is aborted. Redirects are failures, because nobody
 * has approved their target.
 */
export function createSend(
  pools: Pick<Pools, "dispatch" | "locate">,
  timeoutMs: number = deliveryLimits.webhookTimeoutMs,
): Send {
  return (request, signal) => new Promise((resolve) => new Exchange(pools, timeoutMs, resolve).begin(request, signal));
}

class Exchange {
  readonly #pools: Pick<Pools, "dispatch" | "locate">;
  readonly #resolve: (result: SendResult) => void;
  readonly #timeoutMs: number;
  #controller: ExchangeController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopListening = (): void => undefined;
  #isOver = false;
  #status: number | null = null;
  #location = "";
  #retryAfterMs: number | undefined;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(pools: Pick<Pools, "dispatch" | "locate">, timeoutMs: number, resolve: (result: SendResult) => void) {
    this.#pools = pools;
    this.#timeoutMs = timeoutMs;
    this.#resolve = resolve;
  }

  begin({ url, headers, body }: Parameters<Send>[0], signal: AbortSignal): void {
    const place = this.#pools.locate(url);
    if (place === undefined) return this.#end("the URL cannot be called");
    this.#timer = setTimeout(
      () => this.#abort(`no complete answer within ${this.#timeoutMs / 1000} s`),
      this.#timeoutMs,
    );
    const stopped = () => this.#abort("stopped");
    signal.addEventListener("abort", stopped, { once: true });
    this.#stopListening = () => signal.removeEventListener("abort", stopped);
    const post = { method: "POST", path: place.path, headers, body };
    this.#pools.dispatch(place.origin, "guarded", post, this.#handler());
  }

  #handler(): ExchangeHandler {
    return {
      onRequestStart: (controller) => {
        this.#controller = controller;
        // The timeout passed before the connection was made: do not send the request.
        if (this.#isOver) controller.abort(new Error("too late"));
      },
      onResponseStart: (_controller, status, headers) => {
        this.#status = status;
        this.#location = textOf(headers["location"]);
        this.#retryAfterMs = retryAfterMs(textOf(headers["retry-after"]));
      },
      onResponseData: (_controller, chunk) => {
        const room = deliveryLimits.webhookResponseBytes - this.#bytes;
        // A copy: a slice of a chunk would retain all of it.
        this.#chunks.push(Buffer.from(chunk.subarray(0, room)));
        this.#bytes += Math.min(room, chunk.byteLength);
        if (chunk.byteLength > room) this.#abort(null);
      },
      onResponseEnd: () => this.#end(null),
      onResponseError: (_controller, error) => this.#end(reasonOf(error)),
    };
  }

  #abort(reason: string | null): void {
    this.#end(reason);
    this.#controller?.abort(new Error("cut"));
  }

  /** `reason`: the error before the response was complete. */
  #end(reason: string | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#stopListening();
    const status = this.#status;
    const isDelivered = status !== null && status < 300;
    this.#resolve({
      isDelivered,
      status,
      body: status === null ? null : cleanText(Buffer.concat(this.#chunks).toString("utf8")),
      error: isDelivered ? null : (this.#refusal() ?? reason ?? "the connection was closed"),
      retryAfterMs: this.#retryAfterMs,
    });
  }

  #refusal(): string | undefined {
    const status = this.#status;
    if (status === null) return undefined;
    if (status >= 400) return `the receiver answered ${status}`;
    const to = this.#location === "" ? "" : ` to ${cleanText(this.#location).slice(0, deliveryLimits.webhookUrlChars)}`;
    return `the receiver answered ${status}, a redirect${to}; redirects are not followed`;
  }
}

function textOf(header: string | string[] | undefined): string {
  return typeof header === "string" ? header : (header?.[0] ?? "");
}

/** Seconds only. A date is ignored, because clocks differ. */
function retryAfterMs(header: string): number | undefined {
  return /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : undefined;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "the connection failed";
  const code = "code" in error && typeof error.code === "string" ? `${error.code}: ` : "";
  return cleanText(`${code}${error.message}`).slice(0, deliveryLimits.webhookResponseBytes);
}
