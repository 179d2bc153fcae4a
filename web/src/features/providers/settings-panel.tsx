import { useState, type ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Refusals } from "../../ui/refusals.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { useToast } from "../../ui/toast.tsx";
import type { Edited } from "./edit-setting.tsx";
import { useDeleteSetting, useSaveSetting, useSettings, type Setting } from "./queries.ts";
import { SettingsTable } from "./settings-table.tsx";

type PanelProps = { canRead: boolean; canWrite: boolean; onEdit: (edited: Edited) => void };

/** The organization's own credentials, without their secrets. */
export function SettingsPanel({ canRead, canWrite, onEdit }: PanelProps): ReactNode {
  const { data: settings, error, refetch } = useSettings(canRead);
  const [deleted, setDeleted] = useState<Setting>();
  const save = useSaveSetting();
  const say = useToast();
  const toggle = ({ id, is_enabled: isEnabled }: Setting) =>
    save.mutate(
      { id, change: { is_enabled: !isEnabled } },
      { onError: (failure) => say.failed("The credential was not changed", failure) },
    );
  return (
    <Panel
      title="Stored credentials"
      actions={
        canWrite && (
          <Button size="sm" icon="plus" onClick={() => onEdit({ provider: "openai" })}>
            Add credential
          </Button>
        )
      }
    >
      {!canRead ? (
        <p className="px-3 py-2 text-muted">Your role does not permit viewing them.</p>
      ) : error !== null ? (
        <ErrorPanel error={error} onRetry={() => void refetch()} />
      ) : settings === undefined ? (
        <SkeletonRows rows={3} />
      ) : settings.length === 0 ? (
        <p className="px-3 py-2 text-muted">None. A stored key comes before one that the server was started with.</p>
      ) : (
        <>
          <Refusals of={settings.filter(({ is_enabled: isEnabled }) => isEnabled)} />
          <SettingsTable
            settings={settings}
            canWrite={canWrite}
            onEdit={(setting, part) => onEdit({ setting, part })}
            onToggle={toggle}
            onDelete={setDeleted}
          />
        </>
      )}
      {deleted !== undefined && <DeleteSetting setting={deleted} onClose={() => setDeleted(undefined)} />}
    </Panel>
  );
}

function DeleteSetting({ setting, onClose }: { setting: Setting; onClose: () => void }): ReactNode {
  const remove = useDeleteSetting();
  return (
    <ConfirmDialog
      open
      title="Delete this credential?"
      action="Delete credential"
      isBusy={remove.isPending}
      onOpenChange={(open) => !open && onClose()}
      onConfirm={() => remove.mutate(setting.id, { onSuccess: onClose })}
      error={remove.error !== null && <ErrorPanel error={remove.error} />}
    >
      Calls do not use <strong className="break-words">{visibleLine(setting.name)}</strong> of {setting.provider} any
      more. The key is deleted for good; it stays valid at the provider.
    </ConfirmDialog>
  );
}
