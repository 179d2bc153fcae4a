import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useEnvironment } from "../../api/use-api.ts";
import type { Window } from "../../charts/use-window.ts";
import { formatInteger } from "../../lib/format.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { FindInput } from "../../ui/find-input.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { useFresh } from "../series/use-fresh.ts";
import { CustomersTable } from "./customers-table.tsx";
import { PeriodSwitch } from "./period-switch.tsx";
import { findCustomerIds, pageSize, useCustomers } from "./queries.ts";
import type { CustomersSearch } from "./search.ts";
import { UsageExport } from "./usage-export.tsx";

/** An export has no default window. */
const ever = { start: "1970-01-01T00:00:00Z" };

export function CustomersPage({ window, search }: { window: Window; search: CustomersSearch }): ReactNode {
  const { find = "", sort = "-total_cost", page = 1, all } = search;
  const navigate = useNavigate();
  const change = (more: CustomersSearch, replace = false) =>
    void navigate({ to: "/customers", search: { ...search, page: undefined, ...more }, replace });
  const isOfAllTime = all === "1";
  const environment = useEnvironment();
  useFresh({ window, query: "" });
  const list = useCustomers({ window, isOfAllTime, find, sort, page });
  const rows = list.data?.results;
  const count = list.data?.count;
  return (
    <div className="flex flex-col gap-3 p-3 md:p-4">
      <header className="flex flex-wrap items-center gap-2">
        <h1 className="sr-only">Customers</h1>
        <span className="text-muted tabular-nums">
          {count !== undefined && `${formatInteger(count)} ${count === 1 ? "customer" : "customers"}`}
        </span>
        <div className="ml-auto flex items-center gap-2">
          <PeriodSwitch isOfAllTime={isOfAllTime} onChange={(next) => change({ all: next ? "1" : undefined })} />
          <UsageExport
            window={isOfAllTime ? ever : window}
            period={isOfAllTime ? "month" : "day"}
            customersOf={find === "" ? undefined : (api) => findCustomerIds(api, environment, find)}
          />
        </div>
        <div className="w-56 max-sm:w-full">
          <FindInput
            label="Find customers"
            placeholder="Id, name or e-mail"
            value={find}
            onChange={(text) => change({ find: text === "" ? undefined : text }, true)}
          />
        </div>
      </header>
      <Panel>
        {list.error !== null ? (
          <ErrorPanel error={list.error} onRetry={() => void list.refetch()} />
        ) : rows === undefined ? (
          <SkeletonRows rows={12} />
        ) : rows.length === 0 ? (
          <NoCustomers find={find} isOfAllTime={isOfAllTime} onAll={() => change({ all: "1" })} />
        ) : (
          <CustomersTable rows={rows} isOfAllTime={isOfAllTime} sort={sort} onSort={(next) => change({ sort: next })} />
        )}
      </Panel>
      {count !== undefined && count > pageSize && (
        <Pages page={page} count={count} onPage={(next) => change({ page: next })} />
      )}
    </div>
  );
}

function NoCustomers({
  find,
  isOfAllTime,
  onAll,
}: {
  find: string;
  isOfAllTime: boolean;
  onAll: () => void;
}): ReactNode {
  const title = find === "" ? "No customers" : `No customer with “${find}”`;
  return (
    <EmptyState
      icon="customers"
      title={isOfAllTime ? title : `${title} in this window`}
      {...(!isOfAllTime && { action: <Button onClick={onAll}>Show all time</Button> })}
    >
      {find === "" && "Name your customer in a call or span, as user or customer_identifier."}
    </EmptyState>
  );
}

type PagesProps = { page: number; count: number; onPage: (page: number) => void };

function Pages({ page, count, onPage }: PagesProps): ReactNode {
  const first = (page - 1) * pageSize + 1;
  const last = Math.min(count, page * pageSize);
  return (
    <nav aria-label="Pages" className="flex items-center justify-end gap-2 text-sm text-muted">
      <span className="tabular-nums">
        {formatInteger(first)}–{formatInteger(last)} of {formatInteger(count)}
      </span>
      <Button size="sm" icon="chevronLeft" disabled={page <= 1} onClick={() => onPage(page - 1)}>
        Previous
      </Button>
      <Button size="sm" disabled={last >= count} onClick={() => onPage(page + 1)}>
        Next
      </Button>
    </nav>
  );
}
