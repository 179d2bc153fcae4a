import type { Environment } from "../../api/client.ts";
import type { Member, MemberField } from "./members.ts";
import type { NewSetting, Setting, SettingChange } from "./queries.ts";

/** The setting form's values, as typed. */
export type SettingForm = {
  provider: string;
  name: string;
  /** Empty means no value; for a stored secret it means unchanged. */
  members: Readonly<Partial<Record<Member, string>>>;
  environment: Environment | "both";
  /** One model name per line; empty for all. */
  available: string;
  excluded: string;
  weight: string;
};

export function formOf(setting: Setting | undefined, start: { provider: string; environment: Environment }) {
  const form: SettingForm = {
    provider: setting?.provider ?? start.provider,
    name: setting?.name ?? "",
    members: Object.fromEntries(publicMembers.map((name) => [name, setting?.[name] ?? ""])),
    environment: setting === undefined ? start.environment : (setting.environment ?? "both"),
    available: (setting?.available_models ?? []).join("\n"),
    excluded: (setting?.exclude_models ?? []).join("\n"),
    weight: String(setting?.weight ?? 1),
  };
  return form;
}

/** The credential members that the server returns. */
const publicMembers = ["access_key_id", "region", "account_id", "api_version", "base_url"] as const satisfies Member[];

type Problems = Readonly<Partial<Record<string, string>>>;

/** Input errors by field. */
export function problemsOf({ provider, weight }: SettingForm): Problems {
  const isWeight = Number(weight) > 0 && Number.isFinite(Number(weight));
  return {
    ...(provider.trim() === "" && { provider: "The name of your server, such as my-lab." }),
    ...(!isWeight && { weight: "A number above 0." }),
  };
}

/** The request body of a new setting. */
export function newSettingOf(form: SettingForm, fields: readonly MemberField[]): NewSetting {
  const { name, available_models, exclude_models, ...rest } = traitsOf(form);
  return {
    provider: form.provider.trim(),
    ...(name !== "" && { name }),
    ...rest,
    ...(available_models !== null && { available_models }),
    ...(exclude_models.length > 0 && { exclude_models }),
    ...Object.fromEntries(fields.map((field) => [field.name, typed(form, field.name)]).filter(([, value]) => value)),
  };
}

/**
 * The fields that differ from the stored setting. Only these are sent, so that changes that somebody else made
 * meanwhile persist.
 */
export function changeOf(form: SettingForm, fields: readonly MemberField[], before: Setting): SettingChange {
  const stored = formOf(before, { provider: before.provider, environment: "prod" });
  const [now, then] = [traitsOf(form), traitsOf(stored)];
  const traits = Object.entries(now).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(then[name as keyof typeof then]),
  );
  const members = fields
    .filter(({ name }) => typed(form, name) !== (stored.members[name] ?? ""))
    .map(({ name }) => [name, typed(form, name) || null]);
  return Object.fromEntries([...traits.filter(([name, value]) => name !== "name" || value !== ""), ...members]);
}

function typed(form: SettingForm, member: Member): string {
  return form.members[member]?.trim() ?? "";
}

function traitsOf({ name, environment, available, excluded, weight }: SettingForm) {
  const models = linesOf(available);
  return {
    name: name.trim(),
    environment: environment === "both" ? null : environment,
    available_models: models.length === 0 ? null : models,
    exclude_models: linesOf(excluded),
    weight: Number(weight),
  };
}

function linesOf(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
