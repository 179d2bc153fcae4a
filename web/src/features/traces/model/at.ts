/** The element at an index known to be in the list: plain access would have the type `T | undefined` everywhere. */
export function at<T>(list: ArrayLike<T>, index: number): T {
  return list[index] as T;
}
