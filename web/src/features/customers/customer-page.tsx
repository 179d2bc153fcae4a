import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo, useState, type ReactNode } from "react";
import type { Window } from "../../charts/use-window.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { printTerm } from "../../query-bar/print-query.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import type { Scope } from "../series/queries.ts";
import { useFresh } from "../series/use-fresh.ts";
import { ApiError } from "../../api/api-error.ts";
import { BudgetPanel } from "./budget-panel.tsx";
import { CostChart } from "./cost-chart.tsx";
import { customerTerm } from "./customer-term.ts";
import { CustomerFigures } from "./customer-figures.tsx";
import { DeleteCustomer } from "./delete-customer.tsx";
import { EditCustomer } from "./edit-customer.tsx";
import { ModelsPanel } from "./models-panel.tsx";
import { useCustomer } from "./queries.ts";
import { RecentLogs } from "./recent-logs.tsx";
import { UsageExport } from "./usage-export.tsx";

type PageProps = { customerId: string; window: Window; isTable: boolean };

export function CustomerPage({ customerId, window, isTable }: PageProps): ReactNode {
  const { data: customer, error, refetch } = useCustomer(customerId);
  const [open, setOpen] = useState<"edit" | "delete">();
  const navigate = useNavigate();
  const scope: Scope = useMemo(() => ({ window, query: printTerm(customerTerm(customerId)) }), [window, customerId]);
  useFresh(scope);
  const mayWrite = customer?.has_write_access === true;
  if (error instanceof ApiError && error.status === 404) return <NoSuchCustomer customerId={customerId} />;
  return (
    <div className="flex flex-col gap-3 p-3 md:p-4">
      <header className="flex flex-wrap items-start gap-x-3 gap-y-2">
        <div className="min-w-0 flex-1 max-sm:basis-full">
          <Link to="/customers" className="text-sm text-muted hover:text-accent">
            Customers
          </Link>
          <h1 className="flex items-center gap-1 text-lg font-semibold">
            <span className="min-w-0 truncate" title={visibleLine(customerId)}>
              {visibleLine(customerId)}
            </span>
            <CopyButton text={customerId} label="Copy the id" />
          </h1>
          <div className="flex h-5 items-center truncate text-muted">
            {customer === undefined
              ? error === null && <Skeleton className="h-3 w-40" />
              : visibleLine([customer.name, customer.email, customer.group_identifier].filter(Boolean).join(" · "))}
          </div>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <UsageExport window={window} period="day" customersOf={async () => [customerId]} />
          {mayWrite && (
            <>
              <Button icon="edit" onClick={() => setOpen("edit")}>
                Edit customer
              </Button>
              <Button variant="danger" icon="trash" onClick={() => setOpen("delete")}>
                Delete
              </Button>
            </>
          )}
        </div>
      </header>
      <CustomerFigures scope={scope} />
      <CostChart scope={scope} customerId={customerId} isTable={isTable} />
      <div className="grid grid-cols-1 gap-3 lg:grid-cols-2">
        <BudgetPanel
          customer={customer}
          error={error !== null && <ErrorPanel error={error} onRetry={() => void refetch()} />}
          zone={window.zone}
          onEdit={mayWrite ? () => setOpen("edit") : undefined}
        />
        <ModelsPanel scope={scope} />
      </div>
      <RecentLogs scope={scope} />
      {customer !== undefined && open === "edit" && (
        <EditCustomer customer={customer} onClose={() => setOpen(undefined)} />
      )}
      {open === "delete" && (
        <DeleteCustomer
          customerId={customerId}
          onClose={() => setOpen(undefined)}
          onDeleted={() => void navigate({ to: "/customers", search: {} })}
        />
      )}
    </div>
  );
}

function NoSuchCustomer({ customerId }: { customerId: string }): ReactNode {
  return (
    <EmptyState
      icon="customers"
      title="There is no such customer"
      action={
        <Link to="/customers" search={{ all: "1" }} className="text-accent hover:underline">
          All customers
        </Link>
      }
    >
      No call or span of this environment names “{visibleLine(customerId)}”.
    </EmptyState>
  );
}
