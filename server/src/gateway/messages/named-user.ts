import { isObject, parseObjectText } from "../../lib/json.ts";

/** Whom `metadata.user_id` of a request names, and the session where it tells of one. */
export type NamedUser = { customer?: string; session?: string };

/** Claude Code wrote `user_<device>_account_<account>_session_<session>`; the account is empty where an API key is used. */
const joined = /^user_([0-9a-f]{16,})_account_([\w-]*)_session_([\w-]+)$/i;

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/**
 * Claude Code puts device, account and session into one id, today as JSON: the account, or else the device, is the customer, or each
 * session would be one.
 */
export function readNamedUser(metadata: unknown): NamedUser {
  const id = isObject(metadata) ? metadata["user_id"] : undefined;
  if (typeof id !== "string" || id === "") return {};
  const [, device = "", account = "", session] = joined.exec(id) ?? [];
  if (session !== undefined) return { customer: account || device, session };
  const parts = id.startsWith("{") ? parseObjectText(id) : undefined;
  const { device_id, account_uuid, session_id } = parts ?? {};
  const [customer, named] = [[account_uuid, device_id], [session_id]].map((ids) => ids.find(isText));
  if (customer === undefined && named === undefined) return { customer: id };
  return { ...(customer !== undefined && { customer }), ...(named !== undefined && { session: named }) };
}
