import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { endpoint } from "../../http/endpoint.ts";
import { apiLimits } from "../limits.ts";
import type { CustomerStore } from "../../storage/control/customer-store.ts";
import { exportedUsage } from "../../storage/spans/queries/export-usage.ts";
import { usagePeriods } from "../../storage/spans/span-export.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { exportQuery, readExportFields, refuseWarnings } from "../export-query.ts";
import { filtersBody } from "../read-filters.ts";
import { readSelection, type SpanReadDeps } from "../request-logs/read-selection.ts";
import { exportedTable, exportName, sendExport } from "../send-export.ts";

const all = Object.keys(exportedUsage);

type ExportUsageDeps = SpanReadDeps & {
  spans: Pick<SpanStore, "exportUsage">;
  stores: { customers: Pick<CustomerStore, "listMarkups"> };
};

export const exportUsage = (deps: ExportUsageDeps) =>
  endpoint({
    id: "export_usage",
    method: "POST",
    path: "/api/users/export/",
    summary: "Export the usage of customers",
    description:
      "The usage of each customer per period, model and environment, at cost and with the customer's markup, as one " +
      "file, the highest cost first. Filters are those of spans. The environment is by default that of the key. " +
      "If the export fails, the connection is aborted, so an incomplete file is recognizable. start_time is required.",
    tags: ["Customers"],
    auth: "key",
    permission: "customers:read",
    limit: "api",
    query: z.object({
      ...exportQuery(["jsonl", "csv"]),
      period: z
        .enum(usagePeriods, { error: `period must be one of ${usagePeriods.join(", ")}` })
        .default("day")
        .meta({ description: "Periods are in UTC; weeks begin on Monday." }),
    }),
    body: { kind: "json", schema: filtersBody, example: { filters: { model: { value: ["gpt-4o"] } } } },
    success: exportedTable,
    errors: ["invalid_request", "query_too_large", "unavailable"],
    async handler(context) {
      const { principal, body, rawQuery, signal } = context;
      const organizationId = principal.organization_id;
      const isOwn = [context.query.environment, context.query.is_test, context.query.all_envs].every(
        (requested) => requested === undefined,
      );
      const query = isOwn ? { ...context.query, environment: principal.environment } : context.query;
      const { format, period } = query;
      const fields = readExportFields(query.fields, { all, byDefault: all });
      const { warnings, ...selection } = readSelection(deps, { organizationId, query, body, rawQuery });
      refuseWarnings(warnings);
      const markups = await deps.stores.customers.listMarkups(organizationId, apiLimits.exportMarkups + 1);
      if (markups.length > apiLimits.exportMarkups) {
        throw new ServiceError("query_too_large", `more than ${apiLimits.exportMarkups} customers have a markup`);
      }
      const name = exportName("usage", selection.scope.environment, selection.window, format);
      await sendExport(context, { name, format }, (take) =>
        deps.spans.exportUsage({ ...selection, format, fields, period, markups }, take, signal),
      );
    },
  });
