/** Gives the `Date` of an answer that is sent now; written once a second. */
export function createHttpClock(): () => string {
  let secondMs = Number.NaN;
  let text = "";
  return () => {
    const nowMs = Date.now();
    const ofSecond = nowMs % 1000;
    if (nowMs - ofSecond !== secondMs) {
      secondMs = nowMs - ofSecond;
      text = new Date(secondMs).toUTCString();
    }
    return text;
  };
}
