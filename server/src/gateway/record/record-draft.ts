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
 * What of a call's record its request determines, made while its upstream is waited for: read as the intake reads it, and what is
 * long of it written. So little is left to do between the last byte of the upstream's answer and that of ours.
 */
export type RecordDraft = {
  values: BodyValues;
  written: readonly WrittenColumn[];
};

/**
 * Undefined for a large request, for one with content beside its messages, and where the intake refuses something: it says so of the
 * whole body then.
 */
export function draftRecord(ledger: CallLedger, bodyBytes: number): RecordDraft | undefined {
  if (bodyBytes > gatewayLimits.draftedBodyBytes || hasContent(ledger)) return undefined;
  // The request keeps to the bounds of a span: who read it has seen to that.
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

/** Of a drafted request, at most: a value and what parts it from the next take two bytes; headers are shorter than bodies. */
const requestNodes = gatewayLimits.draftedBodyBytes;

/** All of it, once the call has ended. Undefined where the intake might not take something as it is. */
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
  // What the request says and how it ended are told under different names.
  return isFit ? { values: Object.assign(outcome, values), written } : undefined;
}

function hasContent({ content }: CallLedger): boolean {
  return Object.keys(content).length > 0;
}

function isName(text: string): boolean {
  return text !== "" && text.length <= domainLimits.identifierChars;
}
