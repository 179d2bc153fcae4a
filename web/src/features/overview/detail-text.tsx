import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Detail } from "./panel-details.ts";
import { useOpenRows } from "../series/use-open-rows.ts";

/** A remark beside a figure, with a link to the spans it refers to. */
export function DetailText({ detail, query }: { detail: Detail; query: string }): ReactNode {
  const openRows = useOpenRows(query);
  const className = `min-w-0 truncate text-xs tabular-nums ${detail.isWarning === true ? "text-warn" : "text-faint"}`;
  if (detail.terms === undefined) {
    return (
      <span className={className} title={detail.title}>
        {detail.text}
      </span>
    );
  }
  return (
    <Link
      to="/logs"
      search={openRows.search(detail.terms)}
      className={`${className} hover:underline`}
      title={detail.title}
    >
      {detail.text}
    </Link>
  );
}
