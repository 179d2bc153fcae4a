import { useSyncExternalStore } from "react";

/** Changes with the theme: a canvas that uses CSS colours must then be drawn again. */
export function useThemeVersion(): string {
  return useSyncExternalStore(subscribe, readTheme);
}

const systemIsDark = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");

const readTheme = (): string => `${document.documentElement.dataset["theme"] ?? ""} ${systemIsDark().matches}`;

function subscribe(notify: () => void): () => void {
  const system = systemIsDark();
  const observer = new MutationObserver(notify);
  system.addEventListener("change", notify);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => {
    system.removeEventListener("change", notify);
    observer.disconnect();
  };
}
