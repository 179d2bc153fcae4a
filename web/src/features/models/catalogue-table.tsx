import type { ReactNode } from "react";
import { Badge } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Count } from "../../ui/value.tsx";
import { priceNow, type KnownModel } from "./catalogue-rows.ts";
import type { OwnPrice } from "./own-price.ts";
import { RateCells, RateHeads } from "./rate-cells.tsx";

type TableProps = {
  models: readonly KnownModel[];
  prices: readonly OwnPrice[];
  at: number;
  canWrite: boolean;
  /** Edits the model's own price, or creates one. */
  onPrice: (price: OwnPrice | { model: string; provider: string }) => void;
};

export function CatalogueTable({ models, ...rest }: TableProps): ReactNode {
  return (
    <Table
      label="Catalogue"
      head={
        <>
          <HeadCell>Model</HeadCell>
          <HeadCell>Provider</HeadCell>
          <RateHeads />
          <HeadCell isNumber title="Tokens that the model can take">
            Context
          </HeadCell>
          {rest.canWrite && (
            <HeadCell>
              <span className="sr-only">Actions</span>
            </HeadCell>
          )}
        </>
      }
    >
      {models.map((model) => (
        <Row key={`${model.provider.provider_id} ${model.model_name}`} model={model} {...rest} />
      ))}
    </Table>
  );
}

function Row({ model, prices, at, canWrite, onPrice }: Omit<TableProps, "models"> & { model: KnownModel }): ReactNode {
  const { own, rates } = priceNow(model, prices, at);
  const { model_name: name } = model;
  const { provider_id: provider } = model.provider;
  const why = own === undefined ? "Not in the price table" : "The own price has no such rate";
  return (
    <tr>
      <Cell title={name} className="max-md:max-w-44">
        {name}
        {own !== undefined && (
          <Badge tone="accent" className="ml-2 align-text-bottom" title={`Your own price of ${own.model}`}>
            own price
          </Badge>
        )}
        {own === undefined && model.cost_varies && (
          <Badge
            className="ml-2 align-text-bottom"
            title="The prices are those of a short prompt now. A long prompt, or a call at another hour of the day, has another price."
          >
            varies
          </Badge>
        )}
      </Cell>
      <Cell className="text-muted">{provider}</Cell>
      <RateCells rates={rates} why={why} />
      <Cell isNumber>
        <Count value={model.max_context_window} why="Not in the price table" />
      </Cell>
      {canWrite && (
        <Cell className="text-right">
          <IconButton
            size="sm"
            icon={own === undefined ? "plus" : "edit"}
            label={own === undefined ? `State an own price of ${name}` : `Edit the own price of ${name}`}
            onClick={() => onPrice(own ?? { model: name, provider })}
          />
        </Cell>
      )}
    </tr>
  );
}
