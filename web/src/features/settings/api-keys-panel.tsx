import { useState, type ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/value.tsx";
import { CreateKeyDialog } from "./create-key-dialog.tsx";
import { permissionWords } from "./permission-words.ts";
import { Pages } from "../../ui/pages.tsx";
import { pagesOf, useApiKeys, useDeleteKey, type ApiKey } from "./queries.ts";

export function ApiKeysPanel(): ReactNode {
  const canManage = useCan("keys:manage");
  if (canManage) return <Keys />;
  return (
    <Panel title="API keys">
      <EmptyState icon="lock" title="Only admins see API keys">
        Ask an admin of your organization for one.
      </EmptyState>
    </Panel>
  );
}

function Keys(): ReactNode {
  const [page, setPage] = useState(1);
  const [isCreating, setCreating] = useState(false);
  const [ending, setEnding] = useState<ApiKey>();
  const keys = useApiKeys(page);
  return (
    <Panel
      title="API keys"
      actions={
        <Button size="sm" icon="plus" onClick={() => setCreating(true)}>
          New key
        </Button>
      }
    >
      {keys.error !== null && <ErrorPanel error={keys.error} onRetry={() => void keys.refetch()} />}
      {keys.isPending && <SkeletonRows rows={3} />}
      {keys.data?.results.length === 0 && (
        <EmptyState icon="key" title="There is no key">
          Programs send spans and call models with a key.
        </EmptyState>
      )}
      {keys.data !== undefined && keys.data.results.length > 0 && (
        <Table
          label="API keys"
          head={
            <>
              <HeadCell>Name</HeadCell>
              <HeadCell className="max-sm:hidden">Environment</HeadCell>
              <HeadCell className="max-sm:hidden">Begins with</HeadCell>
              <HeadCell className="max-sm:hidden">May</HeadCell>
              <HeadCell>Last used</HeadCell>
              <HeadCell className="max-sm:hidden">Ends</HeadCell>
              <HeadCell>
                <span className="sr-only">Actions</span>
              </HeadCell>
            </>
          }
        >
          {keys.data.results.map((key) => (
            <Row key={key.id} apiKey={key} onEnd={() => setEnding(key)} />
          ))}
        </Table>
      )}
      <Pages page={page} pages={pagesOf(keys.data?.count ?? 0)} onPage={setPage} />
      {isCreating && <CreateKeyDialog onClose={() => setCreating(false)} />}
      {ending !== undefined && <EndDialog apiKey={ending} onClose={() => setEnding(undefined)} />}
    </Panel>
  );
}

function Row({ apiKey: key, onEnd }: { apiKey: ApiKey; onEnd: () => void }): ReactNode {
  const environment = <Badge tone={key.environment === "test" ? "warn" : "neutral"}>{key.environment}</Badge>;
  const may = permissionWords(key.permissions);
  return (
    <tr>
      <Cell className="max-sm:max-w-44 max-sm:py-1" title={key.name}>
        {key.name}
        <span className="flex items-center gap-1.5 text-xs text-muted sm:hidden">
          {environment}
          <span className="min-w-0 truncate">{may}</span>
        </span>
        {key.expires_at !== null && (
          <span className="block text-xs text-muted sm:hidden">
            ends <Time at={key.expires_at} isDay />
          </span>
        )}
      </Cell>
      <Cell className="max-sm:hidden">{environment}</Cell>
      <Cell className="max-sm:hidden">
        <code className="figures">{key.prefix}…</code>
      </Cell>
      <Cell className="text-muted max-sm:hidden" title={key.permissions.join(", ")}>
        {may}
      </Cell>
      <Cell>
        {key.last_used_at === null ? <span className="text-faint">never</span> : <Time at={key.last_used_at} isAgo />}
      </Cell>
      <Cell className="max-sm:hidden">
        {key.expires_at === null ? <span className="text-faint">never</span> : <Time at={key.expires_at} />}
      </Cell>
      <Cell className="text-right">
        <IconButton size="sm" icon="trash" label={`End the key ${key.name}`} onClick={onEnd} />
      </Cell>
    </tr>
  );
}

function EndDialog({ apiKey: key, onClose }: { apiKey: ApiKey; onClose: () => void }): ReactNode {
  const end = useDeleteKey();
  return (
    <ConfirmDialog
      open
      title="End this key?"
      action="End key"
      isBusy={end.isPending}
      onOpenChange={onClose}
      onConfirm={() => end.mutate(key.id, { onSuccess: onClose })}
      error={end.error !== null && <ErrorPanel error={end.error} />}
    >
      Programs that use <strong>{key.name}</strong> ({key.prefix}…) are refused from now on. It cannot be brought back.
    </ConfirmDialog>
  );
}
