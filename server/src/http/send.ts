import type { OutgoingHttpHeaders } from "node:http";
import { limits } from "../limits.ts";
import { acceptsGzip, gzipFast } from "./content-coding.ts";
import type { RequestContext } from "./context.ts";
import type { Incoming } from "./incoming.ts";
import type { Reply } from "./reply.ts";

/** Writes an answer. Node leaves the body out for HEAD by itself. */
export async function send(context: RequestContext, reply: Reply, closing: boolean): Promise<void> {
  const headers: OutgoingHttpHeaders = {
    "x-request-id": context.requestId,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
  let data: string | Uint8Array | undefined;
  if (reply.payload !== undefined) {
    headers["content-type"] = reply.payload.contentType;
    data = await compressed(context, reply, headers);
    headers["content-length"] = typeof data === "string" ? Buffer.byteLength(data) : data.length;
  } else if (reply.status !== 204 && reply.status !== 304) {
    headers["content-length"] = 0;
  }
  // The client may have left while the body was being compressed.
  if (context.gone) return;

  const unread = isLongUpload(context.incoming);
  if (closing || unread) headers["connection"] = "close";
  context.response.writeHead(reply.status, Object.assign(headers, reply.headers));
  if (unread) await finishAfterUpload(context, data);
  else context.response.end(data);
}

async function compressed(
  context: RequestContext,
  reply: Reply,
  headers: OutgoingHttpHeaders,
): Promise<string | Uint8Array> {
  const { data = "", contentType = "" } = reply.payload ?? {};
  if (data.length < limits.compressFromBytes || !/^(?:application\/json|text\/)/.test(contentType)) return data;
  headers["vary"] = "accept-encoding";
  if (!acceptsGzip(context.incoming.headers["accept-encoding"])) return data;
  headers["content-encoding"] = "gzip";
  return gzipFast(data);
}

/** Node swallows a short rest of a body so that the connection can be used again; a long one is not worth reading. */
function isLongUpload(incoming: Incoming): boolean {
  if (incoming.isComplete()) return false;
  if (incoming.headers["transfer-encoding"] !== undefined) return true;
  return Number(incoming.headers["content-length"] ?? 0) > limits.controlBodyBytes;
}

/**
 * Answers a client that is still sending. Closing at once would reset the connection and could lose the answer on its
 * way, so what still arrives is thrown away for a moment first.
 */
async function finishAfterUpload(context: RequestContext, data: string | Uint8Array | undefined): Promise<void> {
  const { incoming, response } = context;
  if (data === undefined) response.flushHeaders();
  else response.write(data);
  await incoming.drain(limits.lingerMs);
  response.end();
}
