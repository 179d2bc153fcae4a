/** The item of a list at an index that is known to be in it. */
export function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new RangeError(`no item ${index}`);
  return item;
}
