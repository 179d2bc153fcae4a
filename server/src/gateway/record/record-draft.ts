import { createNestedJson } from "../../validation/nested-json.ts";
import { readBounded, type BodyValues } from "../../ingest/normalize/read-body.ts";
import type { ReadSpan, WrittenColumn } from "../../ingest/accept/read-span.ts";
import { exceedsShape } from "../../lib/json.ts";
import { domainLimits } from "../../domain/limits.ts";
import { filterLimits } from "../../filter/limits.ts";
import { gatewayLimits } from "../limits.ts";
import type { CallLedger } from "../call/call-ledger.ts";
import { outcomeOfCall, requestOfCall } from "./span-of-call.ts";

/**
 * The part of a call's record that its request determines, computed while the upstream's response is pending: parsed as
 * the intake does, with long values serialized. This leaves little work between the upstream's last byte and ours.
 */
export type RecordDraft = {
  values: BodyValues;
  written: readonly WrittenColumn[];
};

/**
 * Undefined for a large request, for one with content beside its messages, and if the intake refuses something: the
 * intake then reports that for the whole body.
 */
export function draftRecord(ledger: CallLedger, bodyBytes: number): RecordDraft | undefined {
  if (bodyBytes > gatewayLimits.draftedBodyBytes || hasContent(ledger)) return undefined;
  // The request is within the bounds of a span: its reader checked that.
  const read = readBounded(requestOfCall(ledger), createNestedJson(domainLimits.bodyNodes));
  if (!read.ok) return undefined;
  const { values } = read;
  const written: WrittenColumn[] = [];
  writeAhead(values, "prompt_messages", written);
  writeAhead(values, "tools", written);
  return { values, written };
}

function writeAhead(values: BodyValues, column: WrittenColumn["column"], written: WrittenColumn[]): void {
  const value = values[column];
  if (value === undefined) return;
  values[column] = undefined;
  written.push({ column, value, json: JSON.stringify(value) });
}

/**
 * The most nodes of a request that is precomputed: a value and its separator take two bytes, and headers are shorter
 * than bodies.
 */
const requestNodes = gatewayLimits.draftedBodyBytes;

/** Completes the span when the call has ended. Undefined if the intake might not accept something unchanged. */
export function completeDraft({ values, written }: RecordDraft, ledger: CallLedger): ReadSpan | undefined {
  const outcome = outcomeOfCall(ledger);
  const { completion_message, completion_messages, usage } = outcome;
  // In a list they are as deep as in a body.
  const ofUpstream = [completion_message, completion_messages, usage];
  const isFit =
    !hasContent(ledger) &&
    isName(ledger.model) &&
    isName(ledger.provider) &&
    ledger.errorMessage !== "" &&
    exceedsShape(ofUpstream, filterLimits.spanDepth, domainLimits.spanNodes - requestNodes) === undefined;
  // The fields of the request and of the outcome do not overlap.
  return isFit ? { values: Object.assign(outcome, values), written } : undefined;
}

function hasContent({ content }: CallLedger): boolean {
  return Object.keys(content).length > 0;
}

function isName(text: string): boolean {
  return text !== "" && text.length <= domainLimits.identifierChars;
}
