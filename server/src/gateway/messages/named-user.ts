import { isObject, parseObjectText } from "../../lib/json.ts";

/** The customer that `metadata.user_id` of a request names, and the session if it contains one. */
export type NamedUser = { customer?: string; session?: string };

/**
 * The earlier form of Claude Code: `user_<device>_account_<account>_session_<session>`; the account is empty with an
 * API key.
 */
const joined = /^user_([0-9a-f]{16,})_account_([\w-]*)_session_([\w-]+)$/i;

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/**
 * Claude Code puts device, account and session into one id, today as JSON. The account, or else the device, is the
 * customer: the whole id would make each session a customer.
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
