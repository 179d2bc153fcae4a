import { z } from "zod";
import { badBody, ServiceError } from "../../domain/errors.ts";
import type { KeyPrincipal } from "../../domain/principal.ts";
import type { SpanChange } from "../../domain/span-edit.ts";
import { refuseUnknown, validate } from "../../http/validate.ts";
import type { SpanEditor } from "../../ingest/span-editor.ts";
import { exceedsShape, isObject, isRawNumber } from "../../lib/json.ts";
import { apiLimits } from "../limits.ts";
import { domainLimits } from "../../domain/limits.ts";
import { filterLimits } from "../../filter/limits.ts";
import type { SpanKey, SpanStore } from "../../storage/spans/span-store.ts";

/** Changes of stored spans, one or many. */
export type SpanChangeDeps = {
  spans: Pick<SpanStore, "findSpans" | "readEdits" | "hydrateSpans">;
  spanEditor: SpanEditor;
  /** Resolves once previously accepted spans are stored, or after a timeout with false. */
  caughtUp: () => Promise<boolean>;
};

const isSmall = (metadata: unknown): boolean =>
  exceedsShape(metadata, filterLimits.spanDepth, domainLimits.spanNodes) === undefined &&
  JSON.stringify(metadata).length <= apiLimits.changedMetadataChars;

const metadataSchema = z
  .record(z.string().max(filterLimits.metadataKeyChars), z.unknown())
  .refine(isSmall, { error: `must be at most ${apiLimits.changedMetadataChars} characters of JSON` });

export const spanChangeSchema = z
  .object({
    note: z.string().max(apiLimits.noteChars).nullish().meta({ description: "Remark of a person. null clears it." }),
    is_pinned: z
      .boolean()
      .nullable()
      .transform((value) => value ?? false)
      .optional()
      .meta({ description: "null is false." }),
    positive_feedback: z.boolean().nullish().meta({ description: "The user's rating of the answer. null clears it." }),
    metadata: metadataSchema.optional().meta({
      description:
        "Merged with the metadata of the span, key by key; null removes a key. Keys that begin with _ are ignored.",
    }),
  })
  .meta({ id: "SpanChange" });

export const spanChangeExample = {
  positive_feedback: false,
  note: "Names the wrong city.",
  metadata: { reviewed_by: "kim" },
};

/**
 * @throws ServiceError `invalid_request` naming the field. @param also names that the body may have besides the changes
 */
export function readSpanChange(body: unknown, also: readonly string[] = []): SpanChange {
  if (!isObject(body)) throw badBody("must be a JSON object");
  refuseUnknown(body, [spanChangeSchema, z.object(Object.fromEntries(also.map((name) => [name, z.unknown()])))]);
  // A number that keeps its digits is an object too.
  const plainBody = isRawNumber(body["metadata"]) ? { ...body, metadata: Number(body["metadata"].rawJSON) } : body;
  const { metadata, ...plain } = validate(spanChangeSchema, plainBody) as SpanChange;
  if (metadata === undefined) return plain;
  return { ...plain, metadata: Object.fromEntries(Object.entries(metadata).filter(([key]) => !key.startsWith("_"))) };
}

export type SentChange = { unique_id: string; change: SpanChange };

/** Changes spans. Returns for each, in the order of `sent`, its key or the reason why it was not changed. */
export async function changeSpans(
  deps: SpanChangeDeps,
  principal: KeyPrincipal,
  sent: readonly SentChange[],
  signal: AbortSignal,
): Promise<Array<SpanKey | ServiceError>> {
  const { organization_id } = principal;
  const found = await findKeys(deps, organization_id, sent, signal);
  const ids = [...new Set(found.flatMap((key) => (key instanceof ServiceError ? [] : [key.unique_id])))];
  const isMetadata = sent.some(({ change }) => change.metadata !== undefined);
  const changed = isMetadata ? await deps.spans.readEdits({ organization_id }, ids, signal) : undefined;
  const outcomes = found.map((key, index) => {
    if (key instanceof ServiceError) return key;
    const metadata = changed?.get(key.unique_id)?.metadata;
    return refusalOf(principal, key, { sent: sent[index]?.change ?? {}, metadata }) ?? key;
  });
  const edits = outcomes.flatMap((key, index) =>
    key instanceof ServiceError ? [] : [{ unique_id: key.unique_id, change: sent[index]?.change ?? {} }],
  );
  if (edits.length > 0) await deps.spanEditor.edit(organization_id, edits);
  return outcomes;
}

async function findKeys(
  { spans, caughtUp }: SpanChangeDeps,
  organization_id: string,
  sent: readonly SentChange[],
  signal: AbortSignal,
): Promise<Array<SpanKey | ServiceError>> {
  const ids = sent.map(({ unique_id }) => unique_id.toLowerCase());
  const keys = new Map<string, SpanKey>();
  const find = async (): Promise<boolean> => {
    const unknown = ids.filter((id) => !keys.has(id));
    if (unknown.length === 0) return true;
    for (const key of await spans.findSpans({ organization_id }, unknown, signal)) keys.set(key.unique_id, key);
    return ids.every((id) => keys.has(id));
  };
  // They may have been accepted after the last insert.
  const isCaughtUp = (await find()) || (await caughtUp());
  await find();
  return ids.map((id) => keys.get(id) ?? missing(isCaughtUp));
}

function missing(isCaughtUp: boolean): ServiceError {
  const of = (message: string) => ({ errors: { unique_id: [message] } });
  return isCaughtUp
    ? new ServiceError("not_found", "There is no span with this unique_id.", of("is of no span"))
    : new ServiceError("unavailable", "Spans that were accepted just now are not stored yet. Try again.", {
        ...of("may be of a span that is not stored yet"),
        retryAfterS: 1,
      });
}

function refusalOf(
  principal: KeyPrincipal,
  { environment }: SpanKey,
  { sent, metadata }: { sent: SpanChange; metadata: ReadonlyMap<string, string> | undefined },
): ServiceError | undefined {
  if (environment !== principal.environment) {
    const message = `is of a span of the environment ${environment}, and the key is of ${principal.environment}`;
    return new ServiceError("forbidden", `unique_id ${message}.`, { errors: { unique_id: [message] } });
  }
  const keys = new Set([...(metadata?.keys() ?? []), ...Object.keys(sent.metadata ?? {})]);
  if (sent.metadata === undefined || keys.size <= filterLimits.metadataKeys) return undefined;
  const message = `must not change more than ${filterLimits.metadataKeys} keys of a span in all`;
  return new ServiceError("invalid_request", `metadata ${message}.`, { errors: { metadata: [message] } });
}
