import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";
import { exportedSpan } from "../../storage/spans/queries/exported-span.ts";
import { exportFormats } from "../../storage/spans/span-export.ts";
import type { SpanStore } from "../../storage/spans/span-store.ts";
import { exportQuery, readExportFields, refuseWarnings } from "../export-query.ts";
import { filtersBody } from "../read-filters.ts";
import { exportedFile, exportName, sendExport } from "../send-export.ts";
import { listMembers } from "./present-span.ts";
import { readSelection, type SpanReadDeps } from "./read-selection.ts";

const all = Object.keys(exportedSpan);
const byDefault = listMembers(undefined).filter((name) => all.includes(name));

export const exportSpans = (deps: SpanReadDeps & { spans: Pick<SpanStore, "exportSpans"> }) =>
  endpoint({
    id: "export_spans",
    method: "POST",
    path: "/api/request-logs/export/",
    summary: "Export spans",
    description:
      "All spans of the window that match the filters, as one file, unordered: JSON Lines with the rows of the list, CSV, " +
      "or Parquet. If the export fails, the connection is aborted, so an incomplete file is recognizable. start_time is required.",
    tags: ["Spans"],
    auth: "key",
    permission: "spans:read",
    limit: "api",
    query: z.object(exportQuery(exportFormats)),
    body: {
      kind: "json",
      schema: filtersBody,
      example: { filters: { customer_identifier: { value: ["acme"] } } },
    },
    success: exportedFile,
    errors: ["invalid_request", "query_too_large", "unavailable"],
    async handler(context) {
      const { principal, query, body, rawQuery, signal } = context;
      const { format } = query;
      const fields = readExportFields(query.fields, { all, byDefault });
      const { warnings, ...selection } = readSelection(deps, {
        organizationId: principal.organization_id,
        query,
        body,
        rawQuery,
      });
      refuseWarnings(warnings);
      const name = exportName("spans", selection.scope.environment, selection.window, format);
      await sendExport(context, { name, format }, (take) =>
        deps.spans.exportSpans({ ...selection, format, fields }, take, signal),
      );
    },
  });
