import type { TurnQueue } from "../../lib/turn-queue.ts";
import type { PriceBook } from "../../pricing/price-book.ts";
import type { Admission } from "./budgets.ts";
import { costOfCall, isPaid, isRecorded, newLedger, settleUsage, takeDigest, type CallLedger } from "./call-ledger.ts";
import type { ChatDigest } from "../chat/chat-digest.ts";
import type { CallOperation, CallRequest, GatewayCall } from "./operation.ts";
import { completeDraft, draftRecord, type RecordDraft } from "../record/record-draft.ts";
import type { Recorder } from "../record/recorder.ts";
import type { Router } from "../routing/router.ts";
import { spanOfCall } from "../record/span-of-call.ts";

export type RecordDeps = {
  recorder: Pick<Recorder, "add" | "claim">;
  router: Pick<Router, "modelName">;
  prices: PriceBook;
  /** Calls that have just asked their upstream. */
  drafting: Pick<TurnQueue<CallRecord>, "add">;
};

/** The record of one call: its ledger, and at its end the span and what the customer is charged. */
export class CallRecord {
  readonly ledger: CallLedger;
  admission: Admission | undefined;
  readonly #deps: RecordDeps;
  readonly #call: GatewayCall;
  #recorded: CallRequest["recorded"];
  #draft: RecordDraft | undefined;
  #isWritten = false;

  constructor(deps: RecordDeps, operation: CallOperation, call: GatewayCall) {
    this.#deps = deps;
    this.#call = call;
    this.ledger = newLedger(call, deps.recorder, operation.logType);
  }

  /** What the caller asks for is recorded. */
  takeRequest({ asked, recorded }: CallRequest): void {
    this.ledger.asked = asked;
    this.#recorded = recorded;
  }

  /** Does what the request determines while an upstream is waited for. */
  prepare(): void {
    if (this.#recorded !== undefined) this.#describe();
    else this.#deps.drafting.add(this);
  }

  #describe(): void {
    if (this.#recorded === undefined) return;
    this.ledger.asked = this.#recorded();
    this.#recorded = undefined;
  }

  draft(): void {
    if (!this.#isWritten) this.#draft ??= draftRecord(this.ledger, this.#call.bytes.length);
  }

  /**
   * An upstream began to answer, which is paid for: by the usage that it stated, or else by what was said.
   * @param counted what it stated with a failure
   */
  settleUsage(digest: ChatDigest | undefined, counted?: Record<string, unknown>): void {
    this.#describe();
    takeDigest(this.ledger, digest);
    if (counted !== undefined) this.ledger.usage = counted;
    settleUsage(this.ledger, digest);
  }

  /** Once, when it is known how the call ends, and before its caller knows. `onWritten` is called when it may. */
  write(onWritten: () => void): void {
    const { ledger } = this;
    if (this.#isWritten) return onWritten();
    this.#isWritten = true;
    ledger.endedMs = this.#call.elapsedMs();
    if (!isRecorded(ledger)) return this.#close(onWritten);
    this.#describe();
    if (!ledger.hasPlan) ledger.model = this.#deps.router.modelName(ledger.model);
    const { origin, identity, failedUsd } = ledger;
    // The intake makes the cost of the usage; it does not know that of other attempts.
    const costUsd = failedUsd > 0 ? costOfCall(ledger, this.#deps.prices) : undefined;
    const record = {
      read: failedUsd > 0 ? undefined : this.#draft && completeDraft(this.#draft, ledger),
      body: () => ({ ...spanOfCall(ledger), ...(costUsd !== undefined && { cost: costUsd }) }),
      origin,
      identity,
    };
    return this.#deps.recorder.add(record, () => this.#close(onWritten));
  }

  /** Resolves when it is written, also where no answer saw to it. */
  written(): Promise<void> | undefined {
    return this.#isWritten ? undefined : new Promise((resolve) => this.write(resolve));
  }

  /** Settled last: what was charged has its record. */
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
