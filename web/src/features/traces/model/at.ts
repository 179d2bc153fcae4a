/** The element at an index that is within the list: plain access would be `T | undefined` everywhere. */
export function at<T>(list: ArrayLike<T>, index: number): T {
  return list[index] as T;
}
