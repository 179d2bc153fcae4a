import type { OutgoingHttpHeaders } from "node:http";
import { ServiceError } from "../../domain/errors.ts";
import { formatUuid } from "../../domain/identity.ts";
import { logIdHeaders } from "../../domain/product-families.ts";
import { secondsOf } from "../../lib/time.ts";
import type { PriceBook } from "../../pricing/price-book.ts";
import { readUsageObject } from "../../pricing/usage-object.ts";
import type { AttemptEnd } from "./attempt.ts";
import { costOfCall, isRecorded, type CallLedger } from "./call-ledger.ts";
import type { CallRecord } from "../record/call-record.ts";
import {
  answerError,
  answerComplete,
  ClientStream,
  errorOfService,
  openaiErrors,
  type CallError,
  type ErrorForm,
} from "./client-answer.ts";
import type { AnswerReader, CallOperation, GatewayCall, CompleteReply } from "./operation.ts";

/** The response to one caller: a complete body, a stream or an error. The record is written before its last bytes. */
export class CallAnswer {
  readonly stream: ClientStream;
  readonly #errors: ErrorForm;
  /** Reads the response of the current upstream. */
  reader: AnswerReader | undefined;
  /** Headers of that upstream's response that are forwarded. */
  passed: OutgoingHttpHeaders | undefined;
  /** Parameters that were changed or omitted for that upstream. */
  adjusted: readonly string[] = [];
  /** An upstream was called and has not failed yet. */
  isUpstreamActive = false;
  /** Time spent on upstreams so far, in milliseconds. The rest is the gateway's overhead. */
  upstreamMs = 0;
  readonly #call: GatewayCall;
  readonly #ledger: CallLedger;
  readonly #record: CallRecord;
  readonly #prices: PriceBook;

  constructor(operation: CallOperation, call: GatewayCall, record: CallRecord, prices: PriceBook) {
    this.#call = call;
    this.#ledger = record.ledger;
    this.#record = record;
    this.#prices = prices;
    this.#errors = operation.errors?.(call.requestId) ?? openaiErrors;
    this.stream = new ClientStream(call.response, {
      errors: this.#errors,
      head: () => this.#headers(),
      beforeEnd: (sendEnd) => record.write(sendEnd),
    });
  }

  /** Sends the response for the end of the last attempt. */
  end(end: AttemptEnd): void {
    if (end.kind === "aborted") return this.abandon();
    if (end.kind === "problem" && end.hasContent) return this.#breakOff(this.#errors.ofBreak(end.problem));
    if (end.kind === "problem") return this.refuse(this.#errors.ofProblem(end.problem));
    const reply = end.kind === "reply" ? end.reply : undefined;
    this.#send(reply);
    return this.reader?.keep?.(reply, this.adjusted);
  }

  /** @param reply undefined after a stream */
  #send(reply: CompleteReply | undefined): void {
    const { reader } = this;
    this.#record.settleUsage(reader?.digest);
    const breakdown = this.#ledger.params.request_breakdown === true ? this.#breakdown() : undefined;
    if (reply === undefined || reader === undefined) return this.stream.end(this.#lastEvents(breakdown));
    const { body, headers } = reader.answer(reply, breakdown);
    const head = this.#headers();
    if (headers !== undefined) Object.assign(head, headers);
    return answerComplete(this.#call.response, 200, body, head, (sendEnd) => this.#record.write(sendEnd));
  }

  #lastEvents(breakdown: Record<string, unknown> | undefined): string {
    const lastEvents = this.reader?.lastEvents;
    if (lastEvents !== undefined) return lastEvents(breakdown);
    const event = { type: "request_breakdown", request_breakdown: breakdown };
    return breakdown === undefined ? "" : `data: ${JSON.stringify(event)}\n\n`;
  }

  #breakdown(): Record<string, unknown> {
    return breakdownOf(this.#ledger, {
      costUsd: costOfCall(this.#ledger, this.#prices),
      elapsedMs: this.#call.elapsedMs(),
    });
  }

  /** Ends a stream that failed after its first content. */
  #breakOff(error: CallError): void {
    this.#ledger.statusCode = error.status;
    this.#ledger.errorMessage = error.message;
    this.stream.fail(error);
  }

  refuse(refused: CallError): void {
    const error = this.#errors.adapted(refused);
    this.#ledger.statusCode = error.status;
    this.#ledger.errorMessage = error.message;
    this.#sendError(error);
  }

  /**
   * The caller disconnected, recorded as 499 like in nginx, or the service stops, which is then the caller's error.
   * What an upstream had started is billed.
   */
  abandon(): void {
    const ledger = this.#ledger;
    const { reason } = this.#call.signal as { reason: unknown };
    const error = reason instanceof ServiceError ? errorOfService(reason) : undefined;
    if (this.isUpstreamActive) this.#record.settleUsage(this.reader?.digest);
    ledger.statusCode = error?.status ?? 499;
    ledger.errorMessage = error?.message ?? "The client closed the connection.";
    if (error !== undefined) this.#sendError(this.#errors.adapted(error));
  }

  /** Sends the error within the stream if its head was sent already. */
  #sendError(error: CallError): void {
    const { response } = this.#call;
    if (this.stream.isOpen) return this.stream.fail(error);
    if (!response.destroyed)
      answerError(response, error, this.#headers(), (sendEnd) => this.#record.write(sendEnd), this.#errors);
    return undefined;
  }

  #headers(): OutgoingHttpHeaders {
    const { adjusted, passed } = this;
    const overheadMs = this.#call.elapsedMs() - this.upstreamMs;
    const ours = answerHeaders(this.#ledger, { overheadMs, adjusted });
    return passed === undefined ? ours : { ...passed, ...ours };
  }
}

/**
 * The headers of every gateway response: the id of the span, the provider and model, and the gateway's own share of the
 * time.
 */
export function answerHeaders(
  ledger: CallLedger,
  { overheadMs, adjusted = [] }: { overheadMs: number; adjusted?: readonly string[] },
): OutgoingHttpHeaders {
  const { identity, provider, model, attempts, isCached } = ledger;
  const headers: OutgoingHttpHeaders = {
    ...(isRecorded(ledger) && headersOfLogId(formatUuid(identity))),
    "x-spanway-attempts": attempts,
    "x-spanway-overhead-ms": Math.max(0, overheadMs).toFixed(2),
  };
  if (attempts > 0 || isCached) {
    headers["x-spanway-cache"] = isCached ? "hit" : "miss";
    headers["x-spanway-provider"] = provider;
    headers["x-spanway-model"] = headerText(model);
  }
  if (adjusted.length > 0) headers["x-spanway-adjusted"] = adjusted.map(headerText).join(", ");
  return headers;
}

/** Sets the id in the product's own header and in the headers that legacy SDKs read. */
function headersOfLogId(id: string): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { "x-spanway-log-id": id };
  for (const name of logIdHeaders) headers[name] = id;
  return headers;
}

/** Names come from callers: characters that are not allowed in a header are replaced with `?`. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}

/**
 * The `request_breakdown` of a response: what the span records, sent to the caller right away. Times are in seconds,
 * cost is in USD.
 */
function breakdownOf(
  ledger: CallLedger,
  { costUsd, elapsedMs }: { costUsd: number | null; elapsedMs: number },
): Record<string, unknown> {
  const usage = ledger.usage && readUsageObject(ledger.usage);
  return {
    prompt_tokens: usage?.input ?? null,
    completion_tokens: usage?.output ?? null,
    cost: ledger.isCached ? 0 : costUsd,
    prompt_messages: ledger.request["messages"] ?? [],
    completion_message: ledger.messages[0] ?? null,
    model: ledger.model,
    cached: ledger.isCached,
    timestamp: new Date(ledger.startedAtMs + elapsedMs).toISOString(),
    status_code: 200,
    stream: ledger.stream,
    latency: secondsOf(elapsedMs),
    scores: {},
    category: "",
    metadata: ledger.params.metadata ?? {},
    routing_time: secondsOf(ledger.routedMs ?? 0),
    full_request: ledger.request,
    sentiment_score: 0,
  };
}
