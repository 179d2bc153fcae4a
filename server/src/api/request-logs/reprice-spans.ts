import { z } from "zod";
import { writtenEnvironment } from "../../domain/principal.ts";
import { endpoint } from "../../http/endpoint.ts";
import { requestedEnvironment } from "../../http/query.ts";
import type { PlannedChange, SpanRepricing } from "../../jobs/reprice-spans.ts";
import { isoTime } from "../../lib/time.ts";
import { apiLimits } from "../limits.ts";
import { jobsLimits } from "../../jobs/limits.ts";
import { withoutNoise } from "../../pricing/receipt.ts";
import { coverageOf, coverageSchema } from "../coverage.ts";
import { filtersBody, selectionQuery } from "../read-filters.ts";
import { readSelection, type SpanReadDeps } from "./read-selection.ts";

const usd = z.number().nullable();

const result = z
  .object({
    dry_run: z.boolean(),
    count: z.int().meta({ description: "Spans whose cost changes." }),
    looked_at: z.int().meta({ description: "Spans of the window that match the filters, as far as they were read." }),
    without_price: z.int().meta({ description: "Those without a price today: their cost does not change." }),
    old_cost: z.number().meta({ description: "USD, of the spans whose cost changes; an unknown cost is 0." }),
    new_cost: z.number(),
    sample: z
      .array(
        z.object({
          unique_id: z.string(),
          model: z.string(),
          provider_id: z.string(),
          old_cost: usd,
          new_cost: usd,
          old_price_version: z.string(),
          new_price_version: z.string(),
        }),
      )
      .meta({ description: `The first ${apiLimits.repricedSample} of them, newest first.` }),
    continue_before: z.string().nullable().meta({
      format: "date-time",
      description: "Not null if more spans follow: repeat the request with it as end_time.",
    }),
    ...coverageSchema,
    warnings: z.array(z.string()),
  })
  .meta({ id: "RepriceResult" });

export const repriceSpans = (deps: SpanReadDeps & { repricing: SpanRepricing; caughtUp: () => Promise<unknown> }) =>
  endpoint({
    id: "reprice_spans",
    method: "POST",
    path: "/api/request-logs/reprice/",
    summary: "Recompute costs with current prices",
    description:
      "For computed costs of stored spans of the key's environment; stated costs do not change. A dry run, which only reports the changes, unless " +
      "`dry_run` is false. Sums, customers and the budgets of the current period are updated; the previous cost stays in the " +
      `receipt (\`cost_details.previous\`). At most ${jobsLimits.repricedSpans} spans change in one request. Filters and window are those of lists. ` +
      "A request that was interrupted can be sent again. One request of an organization changes costs at a time; others get 409.",
    tags: ["Model prices"],
    auth: "key",
    permission: "prices:write",
    environment: "own",
    limit: "api",
    waitsInQueue: true,
    query: z.object(selectionQuery()),
    body: {
      kind: "json",
      schema: filtersBody.extend({ dry_run: z.boolean().default(true) }),
      example: { filters: { model: { value: ["lab-1"] } }, dry_run: true },
    },
    success: { status: 200, schema: result },
    errors: ["invalid_request", "forbidden", "conflict", "query_too_large", "unavailable"],
    async handler({ principal, query, body, rawQuery, signal }) {
      const environment = writtenEnvironment(principal, requestedEnvironment(query));
      await deps.caughtUp();
      const { warnings, ...selection } = readSelection(deps, {
        organizationId: principal.organization_id,
        query: { ...query, environment },
        body,
        rawQuery,
      });
      const own = { ...selection, scope: { organization_id: principal.organization_id, environment } };
      const plan = body.dry_run ? await deps.repricing.plan(own, signal) : await deps.repricing.reprice(own, signal);
      return {
        dry_run: body.dry_run,
        count: plan.changes.length,
        looked_at: plan.examined,
        without_price: plan.unpriced,
        old_cost: sumOf(plan.changes, ({ before }) => before.cost ?? 0),
        new_cost: sumOf(plan.changes, ({ cost }) => cost),
        sample: plan.changes.slice(0, apiLimits.repricedSample).map(sampleOf),
        continue_before: plan.stoppedAt === undefined ? null : isoTime(plan.stoppedAt),
        ...coverageOf(own),
        warnings,
      };
    },
  });

function sumOf(changes: readonly PlannedChange[], usdOf: (change: PlannedChange) => number): number {
  return withoutNoise(changes.reduce((sum, change) => sum + usdOf(change), 0));
}

function sampleOf({ unique_id, cost, price_version, before }: PlannedChange) {
  return {
    unique_id,
    model: before.model ?? "",
    provider_id: before.provider_id ?? "",
    old_cost: before.cost ?? null,
    new_cost: cost,
    old_price_version: before.price_version ?? "",
    new_price_version: price_version,
  };
}
