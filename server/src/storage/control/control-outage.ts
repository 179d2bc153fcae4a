const codes = /^(ECONN|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOST|ENETUNREACH|08|53300|57P0)/;
/** Of the client, which gives these no code. */
const messages =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client (has encountered a connection error|was closed) and is not queryable)/;

/**
 * Why a statement failed, where that was because the control store was away: it was not reached, dropped the connection or has no room
 * for one. Undefined where trying again would not help, as with a wrong password.
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

/** Whether a PgBouncer refused a setting of the connection that it was not told to ignore: it will refuse the next one too. */
export function isStartupRefused(error: unknown): boolean {
  return error instanceof Error && error.message.includes("unsupported startup parameter");
}
