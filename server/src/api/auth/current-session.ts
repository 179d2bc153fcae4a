import type { IncomingHttpHeaders } from "node:http";
import { hashOf } from "../../auth/browser-sessions.ts";
import type { Sessions } from "../../auth/sessions.ts";
import { sessionIdsIn } from "../../http/browser-session.ts";

/** The token of an Authorization header. */
export function bearerIn({ authorization }: IncomingHttpHeaders): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1];
}

/** The stored ids of the sessions that a person's request came with. */
export async function currentSessionIds(
  { signedIn }: { signedIn: Pick<Sessions, "idOf"> },
  request: { headers: IncomingHttpHeaders; origins: readonly string[] },
): Promise<string[]> {
  const { headers } = request;
  if (headers.authorization === undefined) return sessionIdsIn(request).map(hashOf);
  const token = bearerIn(headers);
  const id = token === undefined ? undefined : await signedIn.idOf(token);
  return id === undefined ? [] : [id];
}
