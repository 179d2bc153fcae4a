/**
 * Formats instants whose text is the same for a whole second, and formats each second once in a row: a busy server stamps thousands
 * of lines, answers and rows a second.
 * @param format text of an instant of whole seconds, in milliseconds since the epoch
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
