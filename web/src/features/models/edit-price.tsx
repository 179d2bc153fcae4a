import { useState, type FormEvent, type ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Field, Input } from "../../ui/input.tsx";
import { useTimeZone } from "../../ui/value.tsx";
import { formOf, readForm, type PriceFields } from "./price-form.ts";
import { useSavePrice } from "./queries.ts";
import { RateFields } from "./rate-fields.tsx";

/** Edits the price if it has an id, otherwise creates one from the given values. */
export function EditPrice({
  price,
  onClose,
}: {
  price: Partial<PriceFields> & { id?: string };
  onClose: () => void;
}): ReactNode {
  const zone = useTimeZone();
  const [form, setForm] = useState(() => formOf(price, zone));
  const [isTried, setTried] = useState(false);
  const save = useSavePrice();
  const { fields, problems } = readForm(form, price, zone);
  const refused = save.error instanceof ApiError ? save.error.errors : {};
  const errorOf = (name: string) => (isTried && problems[name]) || refused[name];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(problems).length === 0) save.mutate({ id: price.id, fields }, { onSuccess: onClose });
  };
  const input = (
    name: "model" | "provider" | "valid_from" | "valid_to",
    label: string,
    hint?: string,
    type = "text",
  ) => (
    <Field label={label} hint={hint} error={errorOf(name)}>
      {(control) => (
        <Input
          {...control}
          type={type}
          value={form[name]}
          onChange={({ target }) => setForm({ ...form, [name]: target.value })}
        />
      )}
    </Field>
  );
  const zoneHint = zone === "utc" ? "UTC" : "your time";
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={price.id === undefined ? "New own price" : "Edit own price"}
      description="For both environments, for calls from now on. Stored spans keep their cost."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form="edit-price" variant="primary" isBusy={save.isPending}>
            Save
          </Button>
        </>
      }
    >
      <form id="edit-price" className="flex flex-col gap-3" onSubmit={submit}>
        <div className="grid gap-3 sm:grid-cols-2">
          {input("model", "Model", "* stands for any characters: lab-*")}
          {input("provider", "Provider", "Empty for any")}
        </div>
        <RateFields rates={form.rates} onChange={(rates) => setForm({ ...form, rates })} errorOf={errorOf} />
        <div className="grid gap-3 sm:grid-cols-2">
          {input("valid_from", "Holds from", `${zoneHint}; empty: always did`, "datetime-local")}
          {input("valid_to", "Holds until", `${zoneHint}; empty: for ever`, "datetime-local")}
        </div>
        {save.error !== null && <ErrorPanel error={save.error} />}
      </form>
    </Dialog>
  );
}
