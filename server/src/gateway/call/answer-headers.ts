import type { OutgoingHttpHeaders } from "node:http";
import { logIdHeaders } from "../../domain/product-families.ts";
import { formatUuid } from "../../domain/identity.ts";
import { isRecorded, type CallLedger } from "./call-ledger.ts";

/**
 * The headers of every gateway response: the id of the span, the provider and model, and the gateway's own share of the
 * time.
 */
export function answerHeaders(
  ledger: CallLedger,
  { overheadMs, adjusted = [] }: { overheadMs: number; adjusted?: readonly string[] },
): OutgoingHttpHeaders {
  const { identity, provider, model, attempts, isCached } = ledger;
  const headers: OutgoingHttpHeaders = {
    ...(isRecorded(ledger) && headersOfLogId(formatUuid(identity))),
    "x-spanway-attempts": attempts,
    "x-spanway-overhead-ms": Math.max(0, overheadMs).toFixed(2),
  };
  if (attempts > 0 || isCached) {
    headers["x-spanway-cache"] = isCached ? "hit" : "miss";
    headers["x-spanway-provider"] = provider;
    headers["x-spanway-model"] = headerText(model);
  }
  if (adjusted.length > 0) headers["x-spanway-adjusted"] = adjusted.map(headerText).join(", ");
  return headers;
}

/** Uses the product's header name, and those that its legacy SDKs read. */
function headersOfLogId(id: string): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { "x-spanway-log-id": id };
  for (const name of logIdHeaders) headers[name] = id;
  return headers;
}

/** Names come from callers: characters that are not allowed in a header are replaced with `?`. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}
