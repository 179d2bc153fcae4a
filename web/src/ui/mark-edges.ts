/** Less than this beyond the edge is the padding of cells and tabs. */
const paddingPx = 12;

/**
 * A ref for an element that scrolls sideways: marks the sides where more follows, which the utility `faded-edges` fades
 * out. Without it, text that is cut between two characters looks complete.
 */
export function markEdges(element: HTMLElement | null): (() => void) | undefined {
  if (element === null) return undefined;
  const mark = (): void => {
    const { scrollLeft, scrollWidth, clientWidth, offsetWidth } = element;
    element.style.setProperty("--fade-bar", `${offsetWidth - clientWidth}px`);
    element.toggleAttribute("data-before", scrollLeft > paddingPx);
    element.toggleAttribute("data-after", scrollLeft + clientWidth < scrollWidth - paddingPx);
  };
  const resized = new ResizeObserver(mark);
  resized.observe(element);
  for (const child of element.children) resized.observe(child);
  element.addEventListener("scroll", mark, { passive: true });
  return () => {
    resized.disconnect();
    element.removeEventListener("scroll", mark);
  };
}
