import type { PriceBook } from "../../pricing/price-book.ts";
import type { Admission } from "./admit-call.ts";
import {
  costOfCall,
  isPaid,
  isRecorded,
  newLedger,
  settleUsage,
  recordDigest,
  type CallLedger,
} from "./call-ledger.ts";
import type { ChatDigest } from "../chat/chat-digest.ts";
import type { CallOperation, CallRequest, GatewayCall } from "./operation.ts";
import type { Recorder } from "../record/recorder.ts";
import type { Router } from "../routing/router.ts";
import { spanOfCall } from "../record/span-of-call.ts";

export type RecordDeps = {
  recorder: Pick<Recorder, "add" | "claim">;
  router: Pick<Router, "modelName">;
  prices: PriceBook;
};

/** The record of one call: its ledger, and at its end the span and the customer's charge. */
export class CallRecord {
  readonly ledger: CallLedger;
  admission: Admission | undefined;
  readonly #deps: RecordDeps;
  readonly #call: GatewayCall;
  #recorded: CallRequest["recorded"];
  #isWritten = false;

  constructor(deps: RecordDeps, operation: CallOperation, call: GatewayCall) {
    this.#deps = deps;
    this.#call = call;
    this.ledger = newLedger(call, deps.recorder, operation.logType);
  }

  setRequest({ members, recorded }: CallRequest): void {
    this.ledger.request = members;
    this.#recorded = recorded;
  }

  #describe(): void {
    if (this.#recorded === undefined) return;
    this.ledger.request = this.#recorded();
    this.#recorded = undefined;
  }

  /**
   * Settles the usage of a call whose upstream began to answer: the usage that it stated, or else an estimate from its
   * output.
   * @param counted the usage that it stated with a failure
   */
  settleUsage(digest: ChatDigest | undefined, counted?: Record<string, unknown>): void {
    this.#describe();
    recordDigest(this.ledger, digest);
    if (counted !== undefined) this.ledger.usage = counted;
    settleUsage(this.ledger, digest);
  }

  /**
   * Writes the record, once: when the outcome is known and before the caller learns it. Calls `onWritten` when the
   * response may end.
   */
  write(onWritten: () => void): void {
    const { ledger } = this;
    if (this.#isWritten) return onWritten();
    this.#isWritten = true;
    ledger.endedMs = this.#call.elapsedMs();
    if (!isRecorded(ledger)) return this.#close(onWritten);
    this.#describe();
    if (!ledger.hasPlan) ledger.model = this.#deps.router.modelName(ledger.model);
    const { origin, identity, failedUsd } = ledger;
    // The intake computes the cost of the usage. It does not know the cost of failed attempts.
    const costUsd = failedUsd > 0 ? costOfCall(ledger, this.#deps.prices) : undefined;
    const call = {
      body: () => ({ ...spanOfCall(ledger), ...(costUsd !== undefined && { cost: costUsd }) }),
      origin,
      identity,
    };
    return this.#deps.recorder.add(call, () => this.#close(onWritten));
  }

  /** Resolves when the record is written, also if no response triggered it. */
  written(): Promise<void> | undefined {
    return this.#isWritten ? undefined : new Promise((resolve) => this.write(resolve));
  }

  /** Settles the charge last, so that every charge has its record. */
  #close(onWritten: () => void): void {
    const { ledger, admission } = this;
    try {
      onWritten();
    } finally {
      if (admission?.isAllowed === true)
        admission.settle(() => (isPaid(ledger) ? costOfCall(ledger, this.#deps.prices) : ledger.failedUsd));
    }
  }
}
