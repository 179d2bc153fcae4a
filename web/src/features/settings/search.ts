import { choiceOf } from "../../lib/search.ts";

export const settingsTabs = ["members", "keys", "organization", "audit", "instance", "account"] as const;

export type SettingsTab = (typeof settingsTabs)[number];

export type SettingsSearch = { tab?: SettingsTab | undefined };

export function parseSettingsSearch(search: Record<string, unknown>): SettingsSearch {
  const tab = choiceOf(search, "tab", settingsTabs);
  return tab === undefined ? {} : { tab };
}
