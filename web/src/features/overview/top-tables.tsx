import type { ReactNode } from "react";
import { ErrorsTable } from "./errors-table.tsx";
import type { Scope } from "../series/queries.ts";
import { TopTable } from "./top-table.tsx";

/** Tables of the largest groups in the figures. */
export function TopTables({ scope }: { scope: Scope }): ReactNode {
  return (
    <div className="grid grid-cols-1 gap-3 lg:grid-cols-2">
      <ErrorsTable scope={scope} />
      <TopTable scope={scope} title="Models" field="model" sortBy="-total_cost" />
      <TopTable scope={scope} title="Customers" field="customer_identifier" sortBy="-total_cost" />
      <TopTable scope={scope} title="Span names" field="span_name" sortBy="-number_of_requests" />
    </div>
  );
}
