import type { ReactNode } from "react";
import { formatCost, formatExactCost, formatInteger, unknown } from "../../lib/format.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { bucketName, readReceipt, type Receipt, type ReceiptLine } from "./receipt.ts";
import type { Span } from "./span-record.ts";
import { whyNoCost } from "./unknown-reasons.ts";

/** The receipt: the counted units, their prices, and the source of the prices. */
export function CostTab({ span }: { span: Span }): ReactNode {
  const receipt = readReceipt(span);
  if (receipt === undefined) return <p className="p-3 text-muted">{whyNoCost(span)}</p>;
  return (
    <div className="max-w-2xl p-3">
      <table className="w-full text-sm">
        <thead>
          <tr className="text-left text-xs text-muted">
            <th className="pb-1 font-normal">Bucket</th>
            <th className="pb-1 text-right font-normal">Quantity</th>
            <th className="pb-1 pl-3 text-right font-normal">Price</th>
            <th className="pb-1 pl-3 text-right font-normal">Amount</th>
          </tr>
        </thead>
        <tbody>
          {receipt.lines.map((line) => (
            <Line key={line.bucket} line={line} />
          ))}
          {receipt.unpriced.map(({ bucket, quantity, reason }) => (
            <tr key={bucket} className="border-t border-line align-top text-warn">
              <td className="py-1">
                {bucketName(visibleLine(bucket))}
                <p className="text-xs">{visibleLine(reason)}</p>
              </td>
              <td className="figures py-1 text-right">{formatInteger(quantity)}</td>
              <td className="figures py-1 pl-3 text-right" title={reason}>
                no price
              </td>
              <td className="py-1 pl-3 text-right" title={reason}>
                {unknown}
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr className="border-t border-line-strong font-semibold">
            <td className="py-1" colSpan={3}>
              Cost
            </td>
            <td
              className="figures py-1 pl-3 text-right"
              title={receipt.cost === undefined ? whyNoCost(span) : formatExactCost(receipt.cost)}
            >
              {formatExactCost(receipt.cost)}
            </td>
          </tr>
        </tfoot>
      </table>
      <Notes receipt={receipt} />
    </div>
  );
}

function Line({ line: { bucket, quantity, unit, rate, amount } }: { line: ReceiptLine }): ReactNode {
  return (
    <tr className="border-t border-line">
      <td className="py-1">{bucketName(visibleLine(bucket))}</td>
      <td className="figures py-1 text-right">{formatInteger(quantity)}</td>
      <td
        className="figures py-1 pl-3 text-right"
        title={unit === "tokens" ? "USD per million tokens" : "USD for each"}
      >
        {formatCost(rate)}
        <span className="text-faint">{unit === "tokens" ? " / 1M" : " each"}</span>
      </td>
      <td className="figures py-1 pl-3 text-right" title={formatExactCost(amount)}>
        {formatExactCost(amount)}
      </td>
    </tr>
  );
}

function Notes({ receipt }: { receipt: Receipt }): ReactNode {
  const { source, sourceDate, adjustments, assumptions, tableCost, previous } = receipt;
  return (
    <dl className="mt-3 grid grid-cols-[7rem_1fr] gap-x-3 gap-y-1 text-sm">
      <Note label="Source">
        <span className="[overflow-wrap:anywhere]">{visibleLine(source)}</span>
        {sourceDate !== undefined && <span className="text-muted"> of {sourceDate}</span>}
      </Note>
      {adjustments.map(({ kind, value, factor }) => (
        <Note key={kind} label={bucketName(visibleLine(kind))}>
          {visibleLine(value)}: prices × <span className="figures">{factor}</span>
        </Note>
      ))}
      {tableCost !== undefined && (
        <Note label="By the table">
          <span className="figures" title={formatExactCost(tableCost)}>
            {formatCost(tableCost)}
          </span>
        </Note>
      )}
      {assumptions.map((assumption) => (
        <Note key={assumption} label="Assumed">
          {visibleLine(assumption)}
        </Note>
      ))}
      {previous.map(({ cost, version, at }) => (
        <Note key={at} label="Before">
          <span className="figures">{formatCost(cost)}</span> by {visibleLine(version) || "no price"}, until {at}
        </Note>
      ))}
    </dl>
  );
}

function Note({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return (
    <>
      <dt className="text-muted">{label}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
