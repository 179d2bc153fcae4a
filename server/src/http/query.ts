import { z } from "zod";
import { ServiceError } from "../domain/errors.ts";
import { environments, type Environment } from "../domain/principal.ts";
import { maxTimeNs, minTimeNs, parseTimeNs } from "../lib/time.ts";
import { domainLimits } from "../domain/limits.ts";
import { httpLimits } from "./limits.ts";

/** Building blocks of query schemas. Each parses the text of one parameter. */

const hourNs = 3_600_000_000_000n;

/** A whole number within a range; anything else is refused with a message that names the parameter. */
export function wholeNumber(name: string, range: { min: number; max: number; default: number }) {
  const message = `${name} must be a whole number from ${range.min} to ${range.max}`;
  return z
    .string({ error: message })
    .optional()
    .transform((text, context) => {
      if (text === undefined) return range.default;
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
      if (value >= range.min && value <= range.max) return value;
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    })
    .meta({ type: "integer", minimum: range.min, maximum: range.max, default: range.default });
}

/** `page` and `page_size`, to be spread into a query schema. */
export function pagingQuery(defaultPageSize: number = domainLimits.pageSizeDefault) {
  return {
    page: wholeNumber("page", { min: 1, max: httpLimits.pageMax, default: 1 }),
    page_size: wholeNumber("page_size", { min: 1, max: httpLimits.pageSizeMax, default: defaultPageSize }),
  };
}

/** A field name, descending if it starts with `-`. The reader checks which fields exist. */
export function sortQuery(defaultSort: string) {
  return {
    sort_by: z
      .string()
      .max(httpLimits.nameChars)
      .default(defaultSort)
      .meta({ default: defaultSort, description: "A leading `-` sorts in descending order, without it ascending." }),
  };
}

function instant(name: string, description: string) {
  return z
    .string({ error: notAnInstant(name) })
    .optional()
    .transform((text, context) => (text === undefined ? undefined : readInstant(name, text, context)))
    .meta({ format: "date-time", description });
}

const notAnInstant = (name: string) =>
  `${name} must be an ISO 8601 date-time or an epoch number in seconds or milliseconds`;

function readInstant(name: string, text: string, context: z.RefinementCtx): bigint {
  const ns = parseTimeNs(text);
  if (ns !== undefined) return ns;
  context.addIssue({ code: "custom", message: notAnInstant(name) });
  return z.NEVER;
}

/**
 * A `start_time` without a default: a whole year must be requested on purpose, not because a parameter was forgotten.
 */
export function requiredStartQuery() {
  const message = "start_time is required: this route has no default window";
  return {
    start_time: z
      .string({ error: ({ input }) => (input === undefined ? message : notAnInstant("start_time")) })
      .min(1, message)
      .transform((text, context) => readInstant("start_time", text, context))
      .meta({ format: "date-time", description: "Required.", examples: ["2026-01-01T00:00:00Z"] }),
  };
}

/** `start_time` and `end_time`, to be spread into a query schema and passed to `timeWindow`. */
export function timeWindowQuery() {
  return {
    start_time: instant("start_time", "Default: one hour before end_time."),
    end_time: instant("end_time", "Default: now."),
  };
}

/** Both ends are inclusive. Nanoseconds since the epoch. */
export type TimeWindow = { startNs: bigint; endNs: bigint };

/** The window of a query: by default one hour, ending now. `nowMs` is milliseconds since the epoch. */
export function timeWindow(
  query: { start_time: bigint | undefined; end_time: bigint | undefined },
  nowMs: number,
): TimeWindow {
  const endNs = query.end_time ?? clamp(BigInt(Math.floor(nowMs)) * 1_000_000n);
  const startNs = query.start_time ?? clamp(endNs - hourNs);
  if (startNs > endNs) {
    const message = "start_time must not be after end_time";
    throw new ServiceError("invalid_request", message, { errors: { start_time: [message] } });
  }
  return { startNs, endNs };
}

function clamp(ns: bigint): bigint {
  if (ns < minTimeNs) return minTimeNs;
  return ns > maxTimeNs ? maxTimeNs : ns;
}

const environmentChoices = [...environments, "all"] as const;

/** `prod`, `test` or `all`; undefined if absent, because the default differs by resource. */
export function environmentQuery() {
  return environmentAmong(
    environmentChoices,
    "Absent: both where spans and traces are read. Threads: always the key's environment.",
  );
}

/** `environment` with its older spellings, for routes that read. `requestedEnvironment` resolves them. */
export function readEnvironmentQuery() {
  return {
    ...environmentQuery(),
    is_test: z.stringbool().optional().meta({ description: "Older spelling of environment.", deprecated: true }),
    all_envs: z
      .stringbool()
      .optional()
      .meta({ description: "Older spelling of environment=all; false has no effect.", deprecated: true }),
  };
}

/** @throws ServiceError `invalid_request` if the older spelling contradicts `environment` */
export function requestedEnvironment(query: {
  environment: Environment | "all" | undefined;
  is_test?: boolean | undefined;
  all_envs?: boolean | undefined;
}): Environment | "all" | undefined {
  const { environment, is_test: isTest, all_envs: isAll } = query;
  const older = isAll === true ? "all" : isTest === undefined ? undefined : isTest ? "test" : "prod";
  if (environment === undefined || older === undefined || older === environment) return environment ?? older;
  const name = isAll === true ? "all_envs" : "is_test";
  const message = `${name} contradicts environment`;
  throw new ServiceError("invalid_request", message, { errors: { [name]: [message] } });
}

/** The environment of a write: exactly one. */
export function ownEnvironmentQuery() {
  return environmentAmong(
    environments,
    "For an access token, which has no environment: where the spans are stored. Absent: prod. A key has its own.",
  );
}

function environmentAmong<Choice extends string>(choices: readonly Choice[], description: string) {
  const message = `environment must be one of ${choices.join(", ")}`;
  return {
    environment: z
      .string({ error: message })
      .optional()
      .transform((text, context) => {
        if (text === undefined) return undefined;
        const choice = choices.find((name) => name === text);
        if (choice !== undefined) return choice;
        context.addIssue({ code: "custom", message });
        return z.NEVER;
      })
      .meta({ enum: choices, description }),
  };
}

/** Comma-separated field names; undefined if absent. */
export function includeFieldsQuery() {
  return {
    include_fields: z
      .string()
      .optional()
      .transform((text, context) => {
        const names = (text ?? "").split(",").map((name) => name.trim());
        const given = [...new Set(names.filter((name) => name !== ""))];
        if (given.length <= httpLimits.includeFields) return given.length === 0 ? undefined : given;
        const message = `include_fields must name at most ${httpLimits.includeFields} fields`;
        context.addIssue({ code: "custom", message });
        return z.NEVER;
      })
      .meta({
        description:
          "Comma-separated field names; the response has only these fields; a field that a span lacks is null.",
      }),
  };
}
