import { useState, type ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import type { Me } from "../../api/use-me.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox } from "../../ui/checkbox.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Field, Input } from "../../ui/input.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Select } from "../../ui/select.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useChangeOrganization } from "./queries.ts";
import { deletesSpans, retentionOf, retentionText, type RetentionKind } from "./retention.ts";

const kinds = [
  { value: "instance", label: "The server's setting" },
  { value: "forever", label: "For ever" },
  { value: "days", label: "For a number of days" },
] as const;

/** The name, the retention of spans, and the limits of test keys. Only admins can change them. */
export function OrganizationPanel({ me }: { me: Me }): ReactNode {
  const { organization } = me;
  const canChange = me.role === "admin" || me.is_instance_admin;
  const before = retentionText(organization.retention_days);
  const [name, setName] = useState(organization.name);
  const [kind, setKind] = useState<RetentionKind>(before.kind);
  const [days, setDays] = useState(before.days);
  const [usesProd, setUsesProd] = useState(organization.test_uses_prod_providers);
  const [isAsking, setAsking] = useState(false);
  const toast = useToast();
  const change = useChangeOrganization();
  const problems = change.error instanceof ApiError ? change.error.errors : {};
  const retention = retentionOf(kind, days);
  const save = (): void => {
    if (retention === undefined) return;
    const body = { name, retention_days: retention, test_uses_prod_providers: usesProd };
    change.mutate(
      { id: organization.unique_organization_id, body },
      { onSuccess: () => toast.done("Saved"), onSettled: () => setAsking(false) },
    );
  };
  return (
    <Panel title="Organization">
      <form
        className="flex max-w-[480px] flex-col gap-3 p-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (deletesSpans(organization.retention_days, retention)) setAsking(true);
          else save();
        }}
      >
        <Field label="Id" hint="Part of links to shared traces.">
          {(control) => <Input {...control} readOnly className="figures" value={organization.unique_organization_id} />}
        </Field>
        <Field label="Name" error={problems["name"]}>
          {(control) => (
            <Input
              {...control}
              required
              disabled={!canChange}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <RetentionFields
          disabled={!canChange}
          kind={kind}
          days={days}
          problem={problems["retention_days"]}
          onKind={setKind}
          onDays={setDays}
        />
        <label className="flex items-start gap-2">
          <Checkbox className="mt-[3px]" disabled={!canChange} checked={usesProd} onCheckedChange={setUsesProd} />
          <span>Calls with test keys use the provider keys of prod if test has none</span>
        </label>
        {change.error !== null && Object.keys(problems).length === 0 && <ErrorPanel error={change.error} />}
        <SaveButton canChange={canChange} isBusy={change.isPending} disabled={retention === undefined} />
      </form>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title="Delete older spans?"
        action="Save and delete"
        isBusy={change.isPending}
        onConfirm={save}
      >
        Spans that are older than {days} days are deleted within the hour. This cannot be undone.
      </ConfirmDialog>
    </Panel>
  );
}

function SaveButton({
  canChange,
  isBusy,
  disabled,
}: {
  canChange: boolean;
  isBusy: boolean;
  disabled: boolean;
}): ReactNode {
  if (!canChange) return <p className="text-sm text-muted">Only admins change this.</p>;
  return (
    <Button type="submit" variant="primary" isBusy={isBusy} disabled={disabled} className="self-start">
      Save
    </Button>
  );
}

function RetentionFields({
  disabled,
  kind,
  days,
  problem,
  onKind,
  onDays,
}: {
  disabled: boolean;
  kind: RetentionKind;
  days: string;
  problem: readonly string[] | undefined;
  onKind: (kind: RetentionKind) => void;
  onDays: (days: string) => void;
}): ReactNode {
  const isNoNumber = retentionOf(kind, days) === undefined;
  return (
    <div className="flex items-start gap-2">
      <Field label="Spans are kept" error={problem} className="flex-1">
        {(control) => <Select {...control} disabled={disabled} value={kind} options={kinds} onValueChange={onKind} />}
      </Field>
      {kind === "days" && (
        <Field label="Days" error={isNoNumber ? "Must be a whole number from 1." : undefined} className="w-28">
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              disabled={disabled}
              value={days}
              onChange={(event) => onDays(event.target.value)}
            />
          )}
        </Field>
      )}
    </div>
  );
}
