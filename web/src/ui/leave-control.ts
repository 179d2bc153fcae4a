/**
 * Removes the focus from a link or a button, because Enter would click it (`KeysProvider`) even if a key has since
 * selected a row of the list beside it. The next Tab continues from there.
 */
export function leaveControl(): void {
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && focused.matches("a, button, summary")) focused.blur();
}
