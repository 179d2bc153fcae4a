import { useEffect, useState } from "react";

/** The colours of tokens as canvas pixels: bytes of red, green, blue and alpha, red in the lowest byte. */
export function readColors(names: readonly string[]): number[] {
  const style = getComputedStyle(document.documentElement);
  return names.map((name) => {
    const value = Number.parseInt(style.getPropertyValue(name).trim().slice(1, 7), 16);
    const [red, green, blue] = [value >> 16, (value >> 8) & 255, value & 255];
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}

export function readColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** A number that changes with the theme, when a canvas must be repainted. */
export function useThemeChanges(): number {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const note = () => setChanges((count) => count + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", note);
    const observer = new MutationObserver(note);
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => {
      system.removeEventListener("change", note);
      observer.disconnect();
    };
  }, []);
  return changes;
}
