import type { ReactNode } from "react";
import { Field, Input } from "../../ui/input.tsx";
import type { MemberField } from "./members.ts";
import { keyHint } from "./provider-rows.ts";
import type { KnownProvider, Setting } from "./queries.ts";
import type { SettingForm } from "./setting-form.ts";

type FieldsProps = {
  fields: readonly MemberField[];
  stored: Setting | undefined;
  /** Undefined for a self-hosted server. */
  known: KnownProvider | undefined;
  /** Whether the typed values replace the stored key. */
  isReplaced: boolean;
  members: SettingForm["members"];
  onChange: (members: SettingForm["members"]) => void;
  errorOf: (name: string) => string | readonly string[] | undefined;
};

export function CredentialFields({ fields, stored, known, isReplaced, members, onChange, errorOf }: FieldsProps) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      {fields.map(({ name, label, isSecret = false }, at) => (
        <Field
          key={name}
          label={label}
          className={name === "api_key" || name === "base_url" ? "sm:col-span-2" : ""}
          hint={hintOf(name, { stored, known, isReplaced })}
          error={errorOf(name)}
        >
          {(control) => (
            <Input
              {...control}
              type={isSecret ? "password" : "text"}
              // With "off", browsers offer to fill in a password; with "new-password" they do not.
              autoComplete={isSecret ? "new-password" : "off"}
              autoFocus={stored !== undefined && at === 0}
              className={isSecret || name === "base_url" ? "font-mono text-sm" : ""}
              placeholder={placeholderOf(name, isSecret, { stored, known })}
              value={members[name] ?? ""}
              onChange={({ target }) => onChange({ ...members, [name]: target.value })}
            />
          )}
        </Field>
      ))}
    </div>
  );
}

type About = Pick<FieldsProps, "stored" | "known">;

function hintOf(name: string, { stored, known, isReplaced }: About & { isReplaced: boolean }): ReactNode {
  if (name === "base_url" && stored?.has_secret === true) return "To change it, enter the key again.";
  if (name === "base_url" && known !== undefined) return emptyAddress[known.provider] ?? ownAddress(known);
  if (name !== "api_key") return undefined;
  if (known?.provider === "bedrock") return "A key of Bedrock, or an access key of AWS below.";
  if (stored?.has_secret === true) return isReplaced ? `Replaces ${keyHint(stored)}` : "Empty keeps the stored key.";
  return known === undefined || known.is_key_optional ? "Empty if your server needs none." : undefined;
}

/** Providers whose URL follows from other members. */
const emptyAddress: Readonly<Record<string, string>> = {
  bedrock: "Empty for the URL of the region.",
  cloudflare: "Empty for the URL of the account.",
};

function ownAddress({ base_url: address }: KnownProvider): string {
  return address === null ? "Each customer of the provider has a different URL." : "Empty for the provider's own URL.";
}

function placeholderOf(name: string, isSecret: boolean, { stored, known }: About): string | undefined {
  if (name === "base_url") return known === undefined ? "https://llm.example.com/v1" : (known.base_url ?? "https://…");
  if (name === "region") return "us-east-1";
  return isSecret && stored?.has_secret === true && name === "api_key" ? keyHint(stored) : undefined;
}
