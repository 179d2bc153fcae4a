import { useState, type FormEvent, type ReactNode } from "react";
import { ApiError, type FieldErrors } from "../../api/api-error.ts";
import { useEnvironment } from "../../api/use-api.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { CredentialFields } from "./credential-fields.tsx";
import { keyFields, memberFields, type MemberField } from "./members.ts";
import { ProviderField } from "./provider-field.tsx";
import { useSaveSetting, type KnownProvider, type Setting } from "./queries.ts";
import { changeOf, formOf, newSettingOf, problemsOf, type SettingForm } from "./setting-form.ts";
import { TraitFields } from "./trait-fields.tsx";

/** What to edit: a new setting, possibly with a provider preset; all of a stored one; or only its key. */
export type Edited = { provider: string } | { setting: Setting; part: "all" | "key" };

export function EditSetting({
  edited,
  known,
  onClose,
}: {
  edited: Edited;
  known: readonly KnownProvider[];
  onClose: () => void;
}): ReactNode {
  const setting = "setting" in edited ? edited.setting : undefined;
  const isKeyAlone = "part" in edited && edited.part === "key";
  const environment = useEnvironment();
  const [form, setForm] = useState(() =>
    formOf(setting, { provider: "provider" in edited ? edited.provider : "", environment }),
  );
  const [isTried, setTried] = useState(false);
  const save = useSaveSetting();
  const provider = known.find((each) => each.provider === form.provider.trim() && each.is_built_in);
  const fields = isKeyAlone ? keyFields(provider) : memberFields(provider);
  const problems = {
    ...problemsOf(form),
    ...(isKeyAlone && !hasKey(form, fields) && { [fields[0]?.name ?? ""]: noKey }),
  };
  const refused = save.error instanceof ApiError ? save.error.errors : {};
  const errorOf = (name: string) => (isTried ? problems[name] : undefined) ?? refusalOf(refused, name);
  const isShownInForm = Object.keys(refused).some((path) => isShown(path, fields, isKeyAlone));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(problems).length > 0) return;
    if (setting === undefined) {
      save.mutate({ id: undefined, made: newSettingOf(form, fields) }, { onSuccess: onClose });
      return;
    }
    const change = changeOf(form, fields, setting);
    if (Object.keys(change).length === 0) onClose();
    else save.mutate({ id: setting.id, change }, { onSuccess: onClose });
  };
  const set = (more: Partial<SettingForm>) => setForm({ ...form, ...more });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={titleOf(edited)}
      description="Keys are stored encrypted and never shown again."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="edit-setting" variant="primary" isBusy={save.isPending}>
            {isKeyAlone ? "Replace key" : "Save"}
          </Button>
        </>
      }
    >
      <form id="edit-setting" className="flex flex-col gap-3" autoComplete="off" onSubmit={submit}>
        {setting === undefined && (
          <ProviderField known={known} form={form} onChange={set} error={errorOf("provider")} />
        )}
        <CredentialFields
          fields={fields}
          stored={setting}
          known={provider}
          isReplaced={isKeyAlone}
          members={form.members}
          onChange={(members) => set({ members })}
          errorOf={errorOf}
        />
        {!isKeyAlone && <TraitFields form={form} onChange={set} errorOf={errorOf} />}
        {save.error !== null && !isShownInForm && <ErrorPanel error={save.error} />}
      </form>
    </Dialog>
  );
}

const noKey = "Enter the new key.";

function hasKey({ members }: SettingForm, fields: readonly MemberField[]): boolean {
  return fields.some(({ name, isSecret }) => isSecret && (members[name] ?? "").trim() !== "");
}

function titleOf(edited: Edited): string {
  if (!("setting" in edited)) return "Add a credential";
  return `${edited.part === "key" ? "Replace the key of" : "Edit"} ${edited.setting.name}`;
}

/** The server's messages for a field or a part of it, such as `available_models.0`. */
function refusalOf(errors: FieldErrors, name: string): readonly string[] | undefined {
  const found = Object.entries(errors).filter(([path]) => path.split(".")[0] === name);
  return found.length === 0 ? undefined : found.flatMap(([, messages]) => messages);
}

const traits = new Set(["provider", "name", "environment", "available_models", "exclude_models", "weight"]);

function isShown(path: string, fields: readonly MemberField[], isKeyAlone: boolean): boolean {
  const [name = ""] = path.split(".");
  return fields.some((field) => field.name === name) || (!isKeyAlone && traits.has(name));
}
