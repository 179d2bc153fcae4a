/**
 * Formats instants whose text is the same for a whole second, and caches the last second: a busy server formats
 * thousands of log lines, responses and rows per second.
 * @param format formats an instant of whole seconds, in milliseconds since the epoch
 */
export function bySecond(format: (ms: number) => string): (ms: number) => string {
  let second = Number.NaN;
  let text = "";
  return (ms) => {
    const current = Math.floor(ms / 1000);
    if (current !== second) [second, text] = [current, format(current * 1000)];
    return text;
  };
}
