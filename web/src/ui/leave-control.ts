/**
 * Takes the focus off a link or a button: Enter is a click on it (`KeysProvider`), also if a key has since marked a row of the
 * list beside it. The next Tab goes on from there.
 */
export function leaveControl(): void {
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && focused.matches("a, button, summary")) focused.blur();
}
