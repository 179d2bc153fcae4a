import { useState, type ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Input } from "../../ui/input.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/value.tsx";
import type { Evaluator } from "./draft.ts";
import { useFreezeVersion, useVersions } from "./queries.ts";

type VersionsProps = {
  evaluator: Evaluator;
  canWrite: boolean;
  /** The form has unsaved changes. */
  isChanged: boolean;
  onShow: (version: Evaluator) => void;
};

/** Immutable copies. Automations run the evaluator itself. */
export function VersionsPanel({ evaluator, canWrite, isChanged, onShow }: VersionsProps): ReactNode {
  const versions = useVersions(evaluator.id);
  const freeze = useFreezeVersion(evaluator.id);
  const [note, setNote] = useState("");
  const rows = versions.data?.results;
  return (
    <Panel title="Versions">
      {versions.error !== null && <ErrorPanel error={versions.error} onRetry={() => void versions.refetch()} />}
      {versions.isPending && <SkeletonRows rows={2} />}
      {rows?.length === 0 && (
        <p className="px-3 py-2 text-muted">No versions yet. A version is a copy that does not change.</p>
      )}
      {rows !== undefined && rows.length > 0 && (
        <Table
          label="Versions"
          head={
            <>
              <HeadCell isNumber>Version</HeadCell>
              <HeadCell>What it is</HeadCell>
              <HeadCell>Made</HeadCell>
              <HeadCell>
                <span className="sr-only">Actions</span>
              </HeadCell>
            </>
          }
        >
          {rows.map((version) => (
            <tr key={version.version_id}>
              <Cell isNumber>{version.version}</Cell>
              <Cell title={visibleLine(version.version_description)}>{visibleLine(version.version_description)}</Cell>
              <Cell className="whitespace-nowrap text-muted">
                <Time at={version.created_at} isAgo />
              </Cell>
              <Cell className="text-right">
                <Button
                  size="sm"
                  variant="ghost"
                  aria-label={`Show version ${version.version} in the form`}
                  onClick={() => onShow(version)}
                >
                  Show in the form
                </Button>
              </Cell>
            </tr>
          ))}
        </Table>
      )}
      {canWrite && (
        <form
          className="flex gap-2 border-t border-line p-2"
          onSubmit={(event) => {
            event.preventDefault();
            freeze.mutate(note.trim(), { onSuccess: () => setNote("") });
          }}
        >
          <Input
            aria-label="What the new version is"
            placeholder="What it is (optional)"
            value={note}
            onChange={(event) => setNote(event.target.value)}
          />
          <Button
            type="submit"
            disabled={isChanged}
            title={isChanged ? "Save the form first." : undefined}
            isBusy={freeze.isPending}
          >
            Keep as a version
          </Button>
        </form>
      )}
      {freeze.error !== null && <ErrorPanel error={freeze.error} />}
    </Panel>
  );
}
