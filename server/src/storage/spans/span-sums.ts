/**
 * Sums of spans by slots of five minutes and by hours, environment and model, which reads without filters take in place of the spans
 * (docs/adr/0033-sums-are-stored-up-to-a-watermark.md). They are made in passes: each plans, builds all that is due, and is finished. Passes of
 * several nodes at a time do no harm.
 */
export type SpanSums = {
  /** What to do next; a new epoch begins where the clock of the store went back. */
  planSums(timing: SumsTiming, signal?: AbortSignal): Promise<SumsPlan>;

  /** Whether it is this node's turn to build, for a while from now: mostly once, as two may ask at one moment. */
  takeSumsTurn(node: string, forMs: number): Promise<boolean>;

  /** What a pass has to build of a day, in portions of about `rows` spans. */
  listDueSums(pass: SumsPass, day: SumsDay, rows: SumsPortion, signal?: AbortSignal): Promise<DueSums[]>;

  /** Sums the slots or hours anew from what is stored, in place of what there was of them. */
  buildSums(pass: SumsPass, organizationId: string, due: DueSums, signal?: AbortSignal): Promise<void>;

  /** All that was due is built: from here on reads rely on it. */
  finishSums(pass: SumsPass): Promise<void>;

  /** Begins anew with nothing: reads take the spans until a pass is finished. */
  resetSums(): Promise<void>;

  /** Up to when what was stored is in the sums, and the time, in ms, by the store's clock. */
  readSumsState(signal?: AbortSignal): Promise<{ watermarkMs: number; nowMs: number }>;
};

export type SumsTiming = {
  /** How long before the plan a row must have been stored: more than clocks of servers differ, and than replicas lag. */
  marginMs: number;
  /** How long a slot stays open after its end: what comes later makes it be built again. */
  openMs: number;
};

export type SumsPortion = {
  /** Of one statement. */
  rows: number;
  /** Of one slot: a larger one is always read from the spans, and a larger hour from its slots. */
  slotRows: number;
};

/** Slots of `seconds` by their start: those of five minutes, or hours. */
export type DueSums = { seconds: number; slots: number[] };

export type SumsPlan =
  | { kind: "pass"; pass: SumsPass; days: SumsDay[] }
  /** Rows are being deleted in the background, or inserts run for long: later. */
  | { kind: "wait" };

/** Times in ms; `closed…`: slots that begin before are built. */
export type SumsPass = {
  epoch: number;
  afterMs: number;
  untilMs: number;
  closedAfterMs: number;
  closedUntilMs: number;
};

/** `day` as `YYYY-MM-DD`. */
export type SumsDay = { organization_id: string; day: string };
