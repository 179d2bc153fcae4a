import type { ReactNode } from "react";
import { formatInteger } from "../../lib/format.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { FindInput } from "../../ui/find-input.tsx";
import { Pages } from "../../ui/pages.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Select } from "../../ui/select.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { findModels } from "./catalogue-rows.ts";
import { CatalogueTable } from "./catalogue-table.tsx";
import type { OwnPrice } from "./own-price.ts";
import { useCatalogue } from "./queries.ts";
import type { ModelsSearch } from "./search.ts";

const pageSize = 100;

type PanelProps = {
  prices: readonly OwnPrice[];
  at: number;
  canWrite: boolean;
  search: ModelsSearch;
  onSearch: (change: ModelsSearch) => void;
  onPrice: (price: OwnPrice | { model: string; provider: string }) => void;
};

export function CataloguePanel({ search, onSearch, ...rest }: PanelProps): ReactNode {
  const catalogue = useCatalogue();
  const all = catalogue.data ?? [];
  const found = findModels(all, search);
  const pages = Math.max(1, Math.ceil(found.length / pageSize));
  const page = Math.min(search.page ?? 1, pages);
  const providers = [...new Set(all.map(({ provider }) => provider.provider_id))].toSorted();
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <span className="text-muted tabular-nums">
          {catalogue.isSuccess && `${formatInteger(found.length)} ${found.length === 1 ? "model" : "models"}`}
        </span>
        <div className="flex items-center gap-2 max-sm:w-full sm:ml-auto">
          <Select
            aria-label="Provider"
            className="w-36 shrink-0"
            value={search.provider ?? ""}
            options={[
              { value: "", label: "All providers" },
              ...providers.map((name) => ({ value: name, label: name })),
            ]}
            onValueChange={(name) => onSearch({ provider: name === "" ? undefined : name })}
          />
          <div className="w-48 max-sm:flex-1">
            <FindInput
              label="Find models"
              placeholder="Find a model"
              value={search.find ?? ""}
              onChange={(text) => onSearch({ find: text === "" ? undefined : text })}
            />
          </div>
        </div>
      </div>
      <Panel title="Catalogue" actions={<span className="text-xs text-faint">USD per million tokens</span>}>
        {catalogue.error !== null && <ErrorPanel error={catalogue.error} onRetry={() => void catalogue.refetch()} />}
        {catalogue.isPending && <SkeletonRows rows={12} />}
        {catalogue.isSuccess && found.length === 0 && (
          <EmptyState icon="models" title="No such model in the catalogue">
            A provider may have more models than the catalogue knows. They can be called, and have an own price.
          </EmptyState>
        )}
        {found.length > 0 && <CatalogueTable models={found.slice((page - 1) * pageSize, page * pageSize)} {...rest} />}
        <Pages page={page} pages={pages} onPage={(next) => onSearch({ page: next })} />
      </Panel>
    </>
  );
}
