import type { Environment } from "../../api/client.ts";
import type { KnownProvider, Setting } from "./queries.ts";

/** Returns the providers whose names contain the text, ignoring case. Providers that can be called come first. */
export function findProviders(providers: readonly KnownProvider[], find = ""): KnownProvider[] {
  const text = find.trim().toLowerCase();
  const found = providers.filter(({ provider }) => provider.toLowerCase().includes(text));
  const callable = found.filter(({ credential_source: source }) => source !== null);
  return [...callable, ...found.filter(({ credential_source: source }) => source === null)];
}

/** A setting is edited from its own environment; one for both environments from prod. */
export function isChangedFrom(environment: Environment, setting: Setting): boolean {
  return (setting.environment ?? "prod") === environment;
}

export type SettingState = { label: string; tone: "ok" | "neutral" | "warn" | "error"; title?: string };

export function stateOf({
  is_enabled: isEnabled,
  is_readable: isReadable,
  refused_reason: reason,
}: Setting): SettingState {
  if (!isReadable) {
    const title = "It was stored under another SPANWAY_SECRET_KEY. Calls do not use it until you enter the key again.";
    return { label: "unreadable", tone: "error", title };
  }
  if (!isEnabled) return { label: "off", tone: "neutral", title: "Calls do not use it." };
  if (reason !== undefined) return { label: "refused", tone: "warn", title: `${reason}.` };
  return { label: "on", tone: "ok" };
}

/** The visible part of a stored key. */
export function keyHint({ has_secret: hasSecret, secret_tail: tail }: Setting): string {
  if (!hasSecret) return "no key";
  return tail === "" ? "stored" : `…${tail}`;
}

/** A short description of the models that a setting serves. */
export function modelsServed({ available_models: available, exclude_models: excluded }: Setting): string {
  const served = available === null ? "all" : available.join(", ");
  return excluded.length === 0 ? served : `${served}, but ${excluded.join(", ")}`;
}
