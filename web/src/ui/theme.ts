import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";

const storedAs = "spanway.theme";
const changed = "spanway-theme";

export function storedTheme(): Theme {
  const stored = readStored(storedAs);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function chooseTheme(theme: Theme): void {
  writeStored(storedAs, theme);
  applyTheme(theme);
  window.dispatchEvent(new Event(changed));
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    window.addEventListener(changed, listener);
    return () => window.removeEventListener(changed, listener);
  }, storedTheme);
}

/** Storage may be unavailable: choices then last until the page is closed. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function writeStored(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice is not stored.
  }
}
