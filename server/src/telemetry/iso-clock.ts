/** Writes the present as ISO 8601 with milliseconds, UTC; the part that all of a second share is made once. */
export function createIsoClock(now: () => number = Date.now): () => string {
  let secondMs = Number.NaN;
  let second = "";
  return () => {
    const nowMs = now();
    const ms = ((nowMs % 1000) + 1000) % 1000;
    if (nowMs - ms !== secondMs) {
      secondMs = nowMs - ms;
      second = new Date(secondMs).toISOString().slice(0, -4);
    }
    return `${second}${ms < 100 ? (ms < 10 ? "00" : "0") : ""}${ms}Z`;
  };
}
