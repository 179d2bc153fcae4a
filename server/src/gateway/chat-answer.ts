import type { OutgoingHttpHeaders } from "node:http";
import { formatUuid } from "../ingest/identity.ts";
import type { PriceBook } from "../pricing/price-book.ts";
import { answerHeaders } from "./answer-headers.ts";
import type { AttemptEnd } from "./attempt.ts";
import { breakdownOf } from "./breakdown.ts";
import { costOfCall, takeDigest, takeReply, type CallLedger } from "./call-ledger.ts";
import type { ChatCall } from "./chat.ts";
import type { ChatDigest } from "./chat-digest.ts";
import { answerError, answerWhole, ClientStream, type BeforeEnd, type CallError } from "./client-answer.ts";
import type { ChatAsk } from "./read-chat-request.ts";
import { detailedUsage } from "./usage-report.ts";

export const tokenBreakdown = "token-breakdown-2026-03-26";

/** The answer to one caller: a whole body, a stream or an error, with what it asked to have beside the completion. */
export class ChatAnswer {
  readonly stream: ClientStream;
  /** Of the stream that is under way. */
  digest: ChatDigest | undefined;
  /** Parameters that the provider was not asked for as the caller put them. */
  adjusted: readonly string[] = [];
  /** Time spent on upstreams so far, in milliseconds; the rest is ours. */
  upstreamMs = 0;
  readonly #call: ChatCall;
  readonly #ledger: CallLedger;
  readonly #prices: PriceBook;
  readonly #record: BeforeEnd;

  /** @param record called before the last bytes of the answer, when the ledger is complete, with what sends them */
  constructor(call: ChatCall, ledger: CallLedger, prices: PriceBook, record: BeforeEnd) {
    this.#call = call;
    this.#ledger = ledger;
    this.#prices = prices;
    this.#record = record;
    this.stream = new ClientStream(call.response, {
      head: () => this.#headers(),
      beforeEnd: record,
    });
  }

  sendReply(ask: ChatAsk, { bytes, completion }: Extract<AttemptEnd, { kind: "reply" }>): void {
    const ledger = this.#ledger;
    takeReply(ledger, completion);
    const isDetailed = ask.betas.has(tokenBreakdown) && ledger.usage !== undefined;
    const isChanged = ask.echoes || isDetailed || ask.params.request_breakdown === true;
    const body = isChanged
      ? {
          ...completion,
          ...(isDetailed && ledger.usage && { usage: detailedUsage(ledger.usage) }),
          ...this.#extras(ask),
        }
      : completion;
    answerWhole(
      this.#call.response,
      200,
      isChanged || bytes === undefined ? JSON.stringify(body) : bytes,
      this.#headers(),
      this.#record,
    );
  }

  /** What the caller asked to have beside the completion. */
  #extras(ask: ChatAsk): Record<string, unknown> {
    return {
      ...(ask.echoes && { prompt_messages: ask.messages }),
      ...(ask.params.request_breakdown === true && { request_breakdown: this.#breakdown() }),
    };
  }

  #breakdown(): Record<string, unknown> {
    return breakdownOf(this.#ledger, {
      costUsd: costOfCall(this.#ledger, this.#prices),
      elapsedMs: this.#call.elapsedMs(),
      isCached: this.#ledger.isCached,
    });
  }

  sendEnd(ask: ChatAsk): void {
    const { digest } = this;
    takeDigest(this.#ledger, digest);
    const extras = this.#extras(ask);
    if (digest !== undefined && Object.keys(extras).length > 0) {
      const { request_breakdown } = extras;
      const usage = this.#ledger.usage;
      this.stream.writeJson({
        id: digest.id() ?? `chatcmpl-${formatUuid(this.#ledger.identity)}`,
        object: "chat.completion.chunk",
        created: digest.created() ?? Math.floor(this.#call.startedAtMs / 1000),
        model: digest.model() ?? this.#ledger.model,
        choices:
          request_breakdown === undefined ? [] : [{ index: 0, delta: {}, finish_reason: null, request_breakdown }],
        ...(ask.wantsUsage && usage !== undefined && !this.#ledger.isUsageEstimated && { usage }),
        ...extras,
      });
    }
    this.stream.end();
  }

  /**
   * A stream that fails after its first content.
   * @param counted the whole of it, where the provider told it all the same
   */
  breakOff(error: CallError, counted: Record<string, unknown> | undefined): void {
    takeDigest(this.#ledger, this.digest);
    if (counted !== undefined) Object.assign(this.#ledger, { usage: counted, isUsageEstimated: false });
    this.#ledger.statusCode = 424;
    this.#ledger.errorMessage = error.message;
    this.stream.fail({ ...error, type: "upstream_error" });
  }

  refuse(error: CallError): void {
    this.#ledger.statusCode = error.status;
    this.#ledger.errorMessage = error.message;
    this.#tell(error);
  }

  /** The service stops in the middle of the answer, or before it. */
  stop(error: CallError): void {
    this.#tell(error);
  }

  /** In the stream, where its head had to go out before anybody answered. */
  #tell(error: CallError): void {
    if (this.stream.isOpen) return this.stream.fail(error);
    if (!this.#call.response.destroyed) answerError(this.#call.response, error, this.#headers(), this.#record);
  }

  #headers(): OutgoingHttpHeaders {
    return answerHeaders(this.#ledger, {
      overheadMs: this.#call.elapsedMs() - this.upstreamMs,
      adjusted: this.adjusted,
    });
  }
}
