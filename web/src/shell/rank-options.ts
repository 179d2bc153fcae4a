import type { NavigateOptions } from "@tanstack/react-router";
import type { IconName } from "../ui/icon.tsx";

export type PaletteOption = {
  label: string;
  detail?: string;
  icon: IconName;
  link: NavigateOptions;
};

/** The options whose label contains the letters in this order; labels that begin with them come first. */
export function rankOptions<T extends { label: string }>(options: readonly T[], text: string): T[] {
  const sought = text.trim().toLowerCase();
  if (sought === "") return [...options];
  return options
    .map((option) => ({ option, rank: rankOf(option.label.toLowerCase(), sought) }))
    .filter(({ rank }) => rank < none)
    .sort((a, b) => a.rank - b.rank)
    .map(({ option }) => option);
}

const none = 3;

function rankOf(label: string, sought: string): number {
  if (label.startsWith(sought)) return 0;
  if (label.includes(sought)) return 1;
  let from = 0;
  for (const letter of sought) {
    from = label.indexOf(letter, from) + 1;
    if (from === 0) return none;
  }
  return 2;
}
