import { useState, type ReactNode } from "react";
import { useCan } from "../../api/use-me.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { CataloguePanel } from "./catalogue-panel.tsx";
import { EditPrice } from "./edit-price.tsx";
import { OwnPricesPanel } from "./own-prices-panel.tsx";
import type { PriceFields } from "./price-form.ts";
import { useOwnPrices } from "./queries.ts";
import type { ModelsSearch } from "./search.ts";

type Props = { search: ModelsSearch; onSearch: (change: ModelsSearch) => void };

/** The prices of models: the organization's own, and the built-in table. */
export function ModelsPage({ search, onSearch }: Props): ReactNode {
  const canWrite = useCan("prices:write");
  const [edited, setEdited] = useState<Partial<PriceFields> & { id?: string }>();
  const prices = useOwnPrices();
  // Validity depends on the time of a call: here, the time of the last response.
  const at = prices.dataUpdatedAt;
  return (
    <div className="flex flex-col gap-3 p-3 md:p-4">
      <h1 className="sr-only">Models</h1>
      {prices.error !== null && <ErrorPanel error={prices.error} onRetry={() => void prices.refetch()} />}
      {prices.data !== undefined && (
        <OwnPricesPanel prices={prices.data} at={at} canWrite={canWrite} onEdit={setEdited} />
      )}
      <CataloguePanel
        prices={prices.data ?? []}
        at={at}
        canWrite={canWrite}
        search={search}
        onSearch={onSearch}
        onPrice={setEdited}
      />
      {edited !== undefined && <EditPrice price={edited} onClose={() => setEdited(undefined)} />}
    </div>
  );
}
