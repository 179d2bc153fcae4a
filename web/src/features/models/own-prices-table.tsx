import type { ReactNode } from "react";
import { formatCost } from "../../lib/format.ts";
import { Badge } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/value.tsx";
import { mainRatesOf } from "./catalogue-rows.ts";
import { stateOf, type OwnPrice } from "./own-price.ts";
import { RateCells, RateHeads } from "./rate-cells.tsx";
import { nameOf, otherBuckets, unitOf } from "./rates.ts";

type TableProps = {
  prices: readonly OwnPrice[];
  at: number;
  canWrite: boolean;
  onEdit: (price: OwnPrice) => void;
  onDelete: (price: OwnPrice) => void;
};

export function OwnPricesTable({ prices, ...rest }: TableProps): ReactNode {
  return (
    <Table
      label="Own prices"
      head={
        <>
          <HeadCell>Model</HeadCell>
          <HeadCell>Provider</HeadCell>
          <RateHeads />
          <HeadCell>Other rates</HeadCell>
          <HeadCell>Holds</HeadCell>
          {rest.canWrite && (
            <HeadCell>
              <span className="sr-only">Actions</span>
            </HeadCell>
          )}
        </>
      }
    >
      {prices.map((price) => (
        <Row key={price.id} price={price} {...rest} />
      ))}
    </Table>
  );
}

function Row({ price, at, canWrite, onEdit, onDelete }: Omit<TableProps, "prices"> & { price: OwnPrice }): ReactNode {
  const others = otherBuckets
    .flatMap((bucket) => {
      const rate = price.rates[bucket];
      return rate === undefined ? [] : [`${nameOf(bucket)} ${formatCost(rate)} ${unitOf(bucket)}`];
    })
    .join(", ");
  return (
    <tr>
      <Cell title={price.model} className="max-w-60 max-md:max-w-44">
        {price.model}
      </Cell>
      <Cell>{price.provider === "" ? <span className="text-faint">any</span> : price.provider}</Cell>
      <RateCells rates={mainRatesOf(price)} why="It has no such rate: the cost of a call that uses it is unknown" />
      <Cell className="max-w-36 text-muted" title={others}>
        {others}
      </Cell>
      <Cell>
        <Holding price={price} at={at} />
      </Cell>
      {canWrite && (
        <Cell className="text-right whitespace-nowrap">
          <IconButton size="sm" icon="edit" label={`Edit the price of ${price.model}`} onClick={() => onEdit(price)} />
          <IconButton
            size="sm"
            icon="trash"
            label={`Delete the price of ${price.model}`}
            onClick={() => onDelete(price)}
          />
        </Cell>
      )}
    </tr>
  );
}

function Holding({ price, at }: { price: OwnPrice; at: number }): ReactNode {
  const { valid_from: from, valid_to: to } = price;
  const state = stateOf(price, at);
  if (from === null && to === null) return <span className="text-faint">always</span>;
  return (
    <span className="inline-flex items-center gap-1">
      {state !== "holds" && <Badge>{state === "ended" ? "ended" : "not yet"}</Badge>}
      {from !== null && (
        <>
          from <Time at={from} />
        </>
      )}
      {to !== null && (
        <>
          until <Time at={to} />
        </>
      )}
    </span>
  );
}
