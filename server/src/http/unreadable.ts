import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { ServiceError } from "../domain/errors.ts";

/** Responses by the error code of Node's parser; every other error means that the bytes are not an HTTP request. */
const answers: Record<string, readonly [status: string, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request did not arrive in time."],
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "The request headers are too large."],
};
const notHttp = ["400 Bad Request", "This is not a valid HTTP request."] as const;

/** Responds to bytes that are not an HTTP request, or to a request whose head or body did not arrive in time. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const [status, detail] = answers[error.code ?? ""] ?? notHttp;
  const body = JSON.stringify({ detail, code: "invalid_request", message: detail });
  socket.write(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\nx-request-id: ${randomUUID()}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  socket.destroySoon();
}

/** Node stores the response that is being written on its socket; a second response in the middle would corrupt it. */
function isAnswering(socket: Socket & { _httpMessage?: { headersSent: boolean } | null }): boolean {
  return socket._httpMessage?.headersSent === true;
}

/** Returns the error of a request that the parser accepted; Node would refuse it too, but without a body. */
export function problemOfHead({ httpVersion, headers }: IncomingMessage): ServiceError | undefined {
  if (httpVersion === "1.1" && headers.host === undefined) {
    return new ServiceError("invalid_request", "An HTTP/1.1 request must have a Host header.");
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== "100-continue") {
    return new ServiceError("expectation_failed", "The only supported Expect header is 100-continue.");
  }
  return undefined;
}
