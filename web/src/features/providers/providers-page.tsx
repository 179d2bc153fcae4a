import { useState, type ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { FindInput } from "../../ui/find-input.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { useCallsOfDay, useNewestFailures } from "./calls.ts";
import { EditSetting, type Edited } from "./edit-setting.tsx";
import { findProviders } from "./provider-rows.ts";
import { ProvidersTable } from "./providers-table.tsx";
import { useKnownProviders } from "./queries.ts";
import type { ProvidersSearch } from "./search.ts";
import { SettingsPanel } from "./settings-panel.tsx";
import { TryCall } from "./try-call.tsx";

type Props = { search: ProvidersSearch; onSearch: (change: ProvidersSearch) => void };

/** The providers that can be called, and the credentials used for them. */
export function ProvidersPage({ search, onSearch }: Props): ReactNode {
  const canRead = useCan("providers:read");
  const canWrite = useCan("providers:write");
  const canCall = useCan("gateway:call");
  const [edited, setEdited] = useState<Edited>();
  const known = useKnownProviders();
  const calls = useCallsOfDay();
  const failures = useNewestFailures([...(calls.data?.values() ?? [])].some(({ failed }) => failed > 0));
  const closeTry = () => {
    onSearch({ try: undefined });
    // The call just made counts too.
    void calls.refetch();
    if (failures.isFetched) void failures.refetch();
  };
  const found = findProviders(known.data ?? [], search.find);
  return (
    <div className="flex flex-col gap-3 p-3 md:p-4">
      <h1 className="sr-only">Providers</h1>
      <SettingsPanel canRead={canRead} canWrite={canWrite && known.isSuccess} onEdit={setEdited} />
      <Panel
        title="Providers"
        actions={
          <div className="w-48 max-md:w-40">
            <FindInput
              label="Find providers"
              placeholder="Find a provider"
              value={search.find ?? ""}
              onChange={(text) => onSearch({ find: text === "" ? undefined : text })}
            />
          </div>
        }
      >
        {known.error !== null && <ErrorPanel error={known.error} onRetry={() => void known.refetch()} />}
        {known.isPending && <SkeletonRows rows={12} />}
        {calls.error !== null && <ErrorPanel error={calls.error} onRetry={() => void calls.refetch()} />}
        {known.isSuccess && found.length === 0 && (
          <EmptyState icon="provider" title="No such provider">
            Any server that speaks OpenAI's API can be added with a name and an address.
          </EmptyState>
        )}
        {found.length > 0 && (
          <ProvidersTable
            providers={found}
            calls={calls.data}
            failures={failures.data}
            canCall={canCall}
            canWrite={canWrite}
            onTry={(provider) => onSearch({ try: provider })}
            onAdd={(provider) => setEdited({ provider })}
          />
        )}
      </Panel>
      {edited !== undefined && (
        <EditSetting edited={edited} known={known.data ?? []} onClose={() => setEdited(undefined)} />
      )}
      {search.try !== undefined && canCall && <TryCall key={search.try} provider={search.try} onClose={closeTry} />}
    </div>
  );
}
