const codes = /^(ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOST|ENETUNREACH|08|53300|57P0)/;
/** Errors of the client that have no code. */
const messages =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client (has encountered a connection error|was closed) and is not queryable)/;

/**
 * Why a statement failed, if the cause is an outage of the control store: it is unreachable, dropped the connection or
 * has no free connection. Undefined if a retry would not help, as with a wrong password.
 */
export function controlOutage(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isStartupRefused(cause)) return undefined;
    const code = "code" in cause ? String(cause.code) : "";
    if (codes.test(code)) return cause.message === "" ? code : `${code}, ${cause.message}`;
    if (messages.test(cause.message)) return cause.message;
  }
  return undefined;
}

/**
 * Whether a PgBouncer refused a connection setting that it is not configured to ignore: it will refuse the next
 * connection too.
 */
export function isStartupRefused(error: unknown): boolean {
  return error instanceof Error && error.message.includes("unsupported startup parameter");
}

const dropCodes = /^(ECONNRESET|EPIPE|08|57P0[12])/;
const dropMessages = /^(Connection terminated(?! due to connection timeout)|Client (has encountered|was closed))/;

/** Whether the statement failed because its connection was dropped, so that it may succeed on another one at once. */
export function isConnectionDropped(error: unknown): boolean {
  if (!(error instanceof Error) || isStartupRefused(error)) return false;
  return dropMessages.test(error.message) || ("code" in error && dropCodes.test(String(error.code)));
}
