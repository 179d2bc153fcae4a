let secondMs = 0;
let text = "";

/** The `Date` of an answer that is sent now; written once a second. */
export function httpDate(): string {
  const nowMs = Date.now();
  if (nowMs - secondMs >= 1000 || nowMs < secondMs) {
    secondMs = nowMs - (nowMs % 1000);
    text = new Date(secondMs).toUTCString();
  }
  return text;
}
