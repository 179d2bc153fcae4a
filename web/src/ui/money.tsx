import { createContext, useContext, useMemo, type ReactNode } from "react";
import { decimalsOf, formatCost, paddingTo } from "../lib/format.ts";

const Decimals = createContext(0);

/** A tiny amount with more decimals would push a column of large amounts to the left. */
const mostDecimals = 8;

type ColumnProps = {
  amounts: readonly (number | null | undefined)[];
  /** Fewer decimals, if the column has no space. */
  most?: number;
  children: ReactNode;
};

/** The amounts of one column, aligned at their decimal points. */
export function MoneyColumn({ amounts, most = mostDecimals, children }: ColumnProps): ReactNode {
  const decimals = useMemo(
    () => Math.min(most, Math.max(0, ...amounts.map((usd) => decimalsOf(formatCost(usd))))),
    [amounts, most],
  );
  return <Decimals value={decimals}>{children}</Decimals>;
}

/** US dollars, as precise as the size allows. */
export function Money({ usd }: { usd: number }): ReactNode {
  const decimals = useContext(Decimals);
  const text = formatCost(usd);
  const padding = paddingTo(decimals, text);
  return padding === "" ? (
    text
  ) : (
    <span data-padding={padding} className="money">
      {text}
    </span>
  );
}
