import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import { apiLimits } from "../limits.ts";
import { parseTimeNs } from "../../lib/time.ts";
import type { SpanPlace } from "../../storage/spans/span-list.ts";
import type { TimeWindow } from "../../storage/spans/span-store.ts";

/**
 * The start of a page of spans: the previous span and the window, so that a list read by its `next` links contains each
 * span once, even if spans are added, deleted or expire meanwhile. Opaque to callers.
 */
export type PageStart = { sortBy: string; window: TimeWindow; place: SpanPlace };

/** Undefined if it would be too long for a URL: scores may be long texts. */
export function writePageToken({ sortBy, window, place }: PageStart): string | undefined {
  const { values, timestamp, unique_id, environment } = place;
  const parts: z.input<typeof token> = [
    sortBy,
    String(window.fromNs),
    String(window.toNs),
    [...values],
    timestamp,
    unique_id,
    environment,
  ];
  const text = Buffer.from(JSON.stringify(parts)).toString("base64url");
  return text.length <= apiLimits.pageTokenChars ? text : undefined;
}

const nanoseconds = z
  .string()
  .regex(/^-?\d{1,19}$/)
  .transform(BigInt);

const token = z.tuple([
  z.string(),
  nanoseconds,
  nanoseconds,
  z.array(z.string().nullable()),
  z.string(),
  z.guid(),
  z.string(),
]);

/** @throws ServiceError `invalid_request` for a token that no list of this order issued */
export function readPageToken(text: string, sortBy: string, isPlace: (place: SpanPlace) => boolean): PageStart {
  const parsed = token.safeParse(jsonOf(text));
  if (!parsed.success) throw refused();
  const [ofSort, fromNs, toNs, values, timestamp, unique_id, environment] = parsed.data;
  const place = { values, timestamp, unique_id, environment };
  const isWithin = isPlace(place) && isBetween(parseTimeNs(timestamp), fromNs, toNs);
  if (ofSort !== sortBy || !isWithin) throw refused();
  return { sortBy, window: { fromNs, toNs }, place };
}

function isBetween(ns: bigint | undefined, fromNs: bigint, toNs: bigint): boolean {
  return ns !== undefined && fromNs <= ns && ns <= toNs;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

function refused(): ServiceError {
  const message = "page_after must be that of a next link, with the sort_by that it came with";
  return new ServiceError("invalid_request", message, { errors: { page_after: [message] } });
}
