/** Loaded before a node: its clock is off by CLOCK_SKEW_MS, in all of its threads. */
const skewMs = Number(process.env["CLOCK_SKEW_MS"]);
const RealDate = Date;
const now = (): number => RealDate.now() + skewMs;

class SkewedDate extends RealDate {
  static override now = now;
  constructor(...values: [] | [number | string | Date]) {
    super(...((values.length === 0 ? [now()] : values) as [number]));
  }
}

globalThis.Date = SkewedDate as DateConstructor;
