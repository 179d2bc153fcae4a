/** The item at an index that is known to be in the list. Throws RangeError otherwise. */
export function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new RangeError(`no item ${index}`);
  return item;
}
