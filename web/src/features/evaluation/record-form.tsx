import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { IconButton } from "../../ui/button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useToast } from "../../ui/toast.tsx";
import { SubmitRecord } from "./submit-record.tsx";

type FormProps = {
  /** The kind of record, such as `condition`. */
  noun: string;
  saved: { name: string } | undefined;
  canWrite: boolean;
  isChanged: boolean;
  save: { isPending: boolean; error: Error | null };
  /** Stores the record and returns it. */
  store: () => Promise<{ name: string } | undefined>;
  onDelete: () => void;
  children: ReactNode;
};

/** The form of a record: its fields, errors, and buttons for those who may write. */
export function RecordForm({
  noun,
  saved,
  canWrite,
  isChanged,
  save,
  store,
  onDelete,
  children,
}: FormProps): ReactNode {
  const toast = useToast();
  const submit = async () => {
    const stored = await store();
    if (stored !== undefined) {
      toast.done(`${noun.charAt(0).toUpperCase()}${noun.slice(1)} saved`, visibleLine(stored.name));
    }
  };
  return (
    <Panel
      title={saved === undefined ? `New ${noun}` : visibleLine(saved.name)}
      actions={
        canWrite &&
        saved !== undefined && <IconButton size="sm" icon="trash" label={`Delete the ${noun}`} onClick={onDelete} />
      }
    >
      <form
        className="flex flex-col gap-3 p-3"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <fieldset disabled={!canWrite} className="flex min-w-0 flex-col gap-3">
          {children}
        </fieldset>
        {save.error !== null && <ErrorPanel error={save.error} />}
        {canWrite && (
          <SubmitRecord noun={noun} isNew={saved === undefined} isChanged={isChanged} isBusy={save.isPending} />
        )}
      </form>
    </Panel>
  );
}
