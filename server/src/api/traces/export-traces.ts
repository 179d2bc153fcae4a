import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { requestedEnvironment } from "../../http/query.ts";
import type { OrganizationStore } from "../../storage/control/organization-store.ts";
import { exportedTrace } from "../../storage/spans/queries/exported-trace.ts";
import { exportFormats } from "../../storage/spans/span-export.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { exportQuery, readExportFields, refuseWarnings } from "../export-query.ts";
import { filtersBody, readFilters } from "../read-filters.ts";
import { exportedFile, exportName, sendExport } from "../send-export.ts";
import { selectTraces, type TraceReadDeps } from "./read-traces.ts";
import { findTraceOwner } from "./trace-owner.ts";

const all = Object.keys(exportedTrace);

type ExportTracesDeps = TraceReadDeps & {
  spans: Pick<SpanStore, "exportTraces">;
  organizations: Pick<OrganizationStore, "find">;
};

export const exportTraces = (deps: ExportTracesDeps) =>
  endpoint({
    id: "export_traces",
    method: "POST",
    path: "/api/traces/export/",
    summary: "Export traces",
    description:
      "All traces that the list has for the window and the filters, as one file, unordered. " +
      "If the export fails, the connection is aborted, so an incomplete file is recognizable. start_time is required.",
    tags: ["Traces"],
    auth: "key",
    permission: "spans:read",
    limit: "api",
    query: z.object(exportQuery(exportFormats)),
    body: {
      kind: "json",
      schema: filtersBody,
      example: { filters: { total_cost: { operator: "gte", value: [0.01] } } },
    },
    success: exportedFile,
    errors: ["invalid_request", "query_too_large", "unavailable"],
    async handler(context) {
      const { principal, query, body, rawQuery, signal } = context;
      const { format } = query;
      const organizationId = principal.organization_id;
      const fields = readExportFields(query.fields, { all, byDefault: all });
      const { filter, warnings } = readFilters({ body, query, rawQuery }, deps.traceCatalogue);
      refuseWarnings(warnings);
      const environment = requestedEnvironment(query);
      const selection = selectTraces(deps, { organizationId, query: { ...query, environment }, filter });
      const { name: organizationName } = await findTraceOwner(deps.organizations, organizationId);
      const name = exportName("traces", selection.scope.environment, selection.window, format);
      await sendExport(context, { name, format }, (take) =>
        deps.spans.exportTraces({ ...selection, format, fields, organizationName }, take, signal),
      );
    },
  });
