import type { NavigateOptions } from "@tanstack/react-router";
import type { IconName } from "../ui/icon.tsx";

export type PaletteOption = {
  label: string;
  detail?: string;
  icon: IconName;
  link: NavigateOptions;
};

/** Does something on the screen that is open. */
export type PaletteAction = Pick<PaletteOption, "label" | "icon"> & { detail?: undefined; run: () => void };

/** The options whose label contains the letters in this order; labels that begin with them come first. */
export function rankOptions<T extends { label: string }>(options: readonly T[], text: string): T[] {
  const query = text.trim().toLowerCase();
  if (query === "") return [...options];
  return options
    .map((option) => ({ option, rank: rankOf(option.label.toLowerCase(), query) }))
    .filter(({ rank }) => rank < none)
    .sort((a, b) => a.rank - b.rank)
    .map(({ option }) => option);
}

const none = 3;

function rankOf(label: string, query: string): number {
  if (label.startsWith(query)) return 0;
  if (label.includes(query)) return 1;
  let from = 0;
  for (const letter of query) {
    from = label.indexOf(letter, from) + 1;
    if (from === 0) return none;
  }
  return 2;
}
