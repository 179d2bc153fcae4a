import type { ReactNode } from "react";
import { slugOf } from "../../lib/slug.ts";
import { Field, Input } from "../../ui/input.tsx";
import type { Problems } from "./draft.ts";

type Props = {
  draft: { name: string; slug: string };
  isNew: boolean;
  problems: Problems;
  /** The API's field for the slug. */
  slugMember: "condition_slug" | "evaluator_slug" | "automation_slug";
  /** What the slug is for, if that is not obvious. */
  slugHint?: string;
  onChange: (change: { name?: string; slug?: string }) => void;
};

/** The slug of an existing record is read-only. An empty slug is derived from the name. */
export function NameAndSlug({ draft, isNew, problems, slugMember, slugHint, onChange }: Props): ReactNode {
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
      <Field label="Name" error={problems["name"]}>
        {(control) => (
          <Input {...control} required value={draft.name} onChange={({ target }) => onChange({ name: target.value })} />
        )}
      </Field>
      <Field
        label="Slug"
        hint={[slugHint, isNew ? "Empty: made from the name." : "It stays as it is."].filter(Boolean).join(" ")}
        error={problems[slugMember]}
      >
        {(control) => (
          <Input
            {...control}
            className="figures"
            readOnly={!isNew}
            placeholder={slugOf(draft.name, slugMember.replace("_slug", ""))}
            value={draft.slug}
            onChange={({ target }) => onChange({ slug: target.value })}
          />
        )}
      </Field>
    </div>
  );
}
