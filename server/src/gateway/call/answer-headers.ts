import type { OutgoingHttpHeaders } from "node:http";
import { logIdHeaders } from "../../domain/product-families.ts";
import { formatUuid } from "../../domain/identity.ts";
import { isRecorded, type CallLedger } from "./call-ledger.ts";

/** The headers of every answer of the gateway: which span records it, who answered, and what the gateway took of the time. */
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

/** Under the product's name, and under those that its legacy SDKs read. */
function headersOfLogId(id: string): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { "x-spanway-log-id": id };
  for (const name of logIdHeaders) headers[name] = id;
  return headers;
}

/** Names come from callers and stand in headers: what does not belong there is left out. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}
