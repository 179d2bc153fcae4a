import { useState, type ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Panel } from "../../ui/panel.tsx";
import type { OwnPrice } from "./own-price.ts";
import { OwnPricesTable } from "./own-prices-table.tsx";
import { useDeletePrice } from "./queries.ts";

type PanelProps = {
  prices: readonly OwnPrice[];
  at: number;
  canWrite: boolean;
  onEdit: (price: OwnPrice | Record<string, never>) => void;
};

export function OwnPricesPanel({ prices, at, canWrite, onEdit }: PanelProps): ReactNode {
  const [deleted, setDeleted] = useState<OwnPrice>();
  return (
    <Panel
      title="Own prices"
      actions={
        canWrite && (
          <Button size="sm" icon="plus" onClick={() => onEdit({})}>
            New price
          </Button>
        )
      }
    >
      {prices.length === 0 ? (
        <p className="px-3 py-2 text-muted">None. An own price comes before the price table, in both environments.</p>
      ) : (
        <div className="max-h-96 overflow-y-auto">
          <OwnPricesTable prices={prices} at={at} canWrite={canWrite} onEdit={onEdit} onDelete={setDeleted} />
        </div>
      )}
      {deleted !== undefined && <DeletePrice price={deleted} onClose={() => setDeleted(undefined)} />}
    </Panel>
  );
}

function DeletePrice({ price, onClose }: { price: OwnPrice; onClose: () => void }): ReactNode {
  const remove = useDeletePrice();
  return (
    <ConfirmDialog
      open
      title="Delete this price?"
      action="Delete price"
      isBusy={remove.isPending}
      onOpenChange={onClose}
      onConfirm={() => remove.mutate(price.id, { onSuccess: onClose })}
      error={remove.error !== null && <ErrorPanel error={remove.error} />}
    >
      Calls of <strong className="break-all">{price.model}</strong> cost what the price table says from now on. Where it
      has no price, their cost is unknown. Stored spans keep their cost.
    </ConfirmDialog>
  );
}
