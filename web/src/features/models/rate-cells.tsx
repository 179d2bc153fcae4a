import type { ReactNode } from "react";
import { Cell, HeadCell } from "../../ui/table.tsx";
import { Cost } from "../../ui/value.tsx";
import type { MainRates } from "./catalogue-rows.ts";
import { mainBuckets, nameOf } from "./rates.ts";

export function RateHeads(): ReactNode {
  return mainBuckets.map((bucket) => (
    <HeadCell key={bucket} isNumber title={`${nameOf(bucket)}: US dollars per million tokens`}>
      {nameOf(bucket)}
    </HeadCell>
  ));
}

export function RateCells({ rates, why }: { rates: MainRates; why: string }): ReactNode {
  return mainBuckets.map((bucket) => (
    <Cell key={bucket} isNumber>
      <Cost usd={rates[bucket]} why={why} />
    </Cell>
  ));
}
