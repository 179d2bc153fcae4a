/**
 * Sums of spans by slots of five minutes and by hours, environment and model. Reads without filters use them instead of
 * the spans (docs/adr/0033-sums-are-stored-up-to-a-watermark.md). They are built in passes: plan, build all that is
 * due, finish. Concurrent passes of several nodes are harmless.
 */
export type SpanSums = {
  /** Plans the next pass; starts a new epoch if the clock of the store went back. */
  planSums(timing: SumsTiming, signal?: AbortSignal): Promise<SumsPlan>;

  /**
   * Whether this node may build for `forMs` from now. Usually one node gets it, but two that ask at the same moment may
   * both.
   */
  acquireSumsLease(node: string, forMs: number): Promise<boolean>;

  /** The sums of one day that a pass has to build, in portions of about `rows` spans. */
  listDueSums(pass: SumsPass, day: SumsDay, rows: SumsPortion, signal?: AbortSignal): Promise<DueSums[]>;

  /** Builds the sums of slots or hours from the stored data, replacing what they had. */
  buildSums(pass: SumsPass, organizationId: string, due: DueSums, signal?: AbortSignal): Promise<void>;

  /** Everything that was due is built: reads rely on it from now on. */
  finishSums(pass: SumsPass): Promise<void>;

  /** Discards all sums: reads use the spans until a pass is finished. */
  resetSums(): Promise<void>;

  /** `watermarkMs`: rows stored until then are in the sums. `nowMs`: the time of the store's clock. */
  readSumsState(signal?: AbortSignal): Promise<{ watermarkMs: number; nowMs: number }>;
};

export type SumsTiming = {
  /**
   * How long before the plan a row must have been stored. Larger than the clock difference between servers and the lag
   * of replicas.
   */
  marginMs: number;
  /** How long a slot stays open after its end. Rows that come later cause a rebuild. */
  openMs: number;
};

export type SumsPortion = {
  /** The rows of one statement. */
  rows: number;
  /** The rows of one slot. Larger slots are always read from the spans, and larger hours from their slots. */
  slotRows: number;
};

/** Slots of `seconds` length (five minutes or an hour) by their start. */
export type DueSums = { seconds: number; slots: number[] };

export type SumsPlan =
  | { kind: "pass"; pass: SumsPass; days: SumsDay[] }
  /** Rows are being deleted in the background, or an insert runs for long: try later. */
  | { kind: "wait" };

/** Times in ms; `closed…`: slots that begin before it are built. */
export type SumsPass = {
  epoch: number;
  afterMs: number;
  untilMs: number;
  closedAfterMs: number;
  closedUntilMs: number;
};

/** `day` as `YYYY-MM-DD`. */
export type SumsDay = { organization_id: string; day: string };
