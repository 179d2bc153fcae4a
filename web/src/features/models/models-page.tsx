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

/** What models cost: by prices of the organization's own, and by the price table that is built in. */
export function ModelsPage({ search, onSearch }: Props): ReactNode {
  const canWrite = useCan("prices:write");
  const [edited, setEdited] = useState<Partial<PriceFields> & { id?: string }>();
  const prices = useOwnPrices();
  // Prices hold by the time of a call: here that of the last answer.
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
