/** Resources that a server may lack temporarily, by the error codes that report it. */
const resources: ReadonlyArray<readonly [codes: RegExp, resource: string]> = [
  // File systems, SQLite (13 is SQLITE_FULL), Postgres and ClickHouse (243 is NOT_ENOUGH_SPACE).
  [/^(?:ENOSPC|EDQUOT|SQLITE_FULL|53100|243)$/, "its disk is full"],
  [/^(?:EMFILE|ENFILE)$/, "it has no file descriptors left"],
  // Postgres: connection exceptions, shutdown and restart, too many connections; sockets.
  [
    /^(?:08...|57P0[123]|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/,
    "its database does not answer",
  ],
];

/** Errors of `pg` that have no code. */
const messages: ReadonlyArray<readonly [message: RegExp, resource: string]> = [
  [
    /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client (?:has encountered a connection error|was closed))/,
    "its database does not answer",
  ],
  [/database or disk is full|No space left on device|MDB_MAP_FULL/, "its disk is full"],
  [/too many open files/i, "it has no file descriptors left"],
];

const maxCauses = 8;

/** Returns the missing resource that caused an error; undefined for every other error. */
export function missingResource(error: unknown): string | undefined {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < maxCauses; depth += 1) {
    const { code, errcode, message } = cause as Error & { code?: unknown; errcode?: unknown };
    for (const [codes, resource] of resources) {
      if (typeof code === "string" && codes.test(code)) return resource;
      if (errcode === 13) return "its disk is full";
    }
    const found = messages.find(([pattern]) => pattern.test(message));
    if (found !== undefined) return found[1];
    ({ cause } = cause);
  }
  return undefined;
}
