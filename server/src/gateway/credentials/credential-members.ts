import { lookUp } from "../../lib/look-up.ts";
import { gatewayLimits } from "../limits.ts";
import type { Credential } from "../providers/provider.ts";

/** A credential as received, with or without its own base URL. */
export type SuppliedCredential = { credential: Credential; baseUrl: string | undefined };

/** Secret members of a credential beside `api_key`. */
export const secretFields: ReadonlySet<string> = new Set(["secret_access_key", "session_token"]);

/** Spellings of Bedrock's members with the vendor's prefix. */
const fieldAliases: Readonly<Record<string, string>> = {
  aws_access_key_id: "access_key_id",
  aws_secret_access_key: "secret_access_key",
  aws_session_token: "session_token",
  aws_region: "region",
  aws_region_name: "region",
};

const memberPattern = /^[a-z][a-z0-9_]{0,63}$/;
/** The value of a header: printable ASCII, so that it cannot add lines to the request. */
const headerText = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** Part of a host name. */
const regionPattern = /^[a-z0-9-]{1,40}$/;

/** The message completes "<member> …" and never repeats a value. */
export class BadCredential extends Error {
  readonly member: string;

  constructor(member: string, message: string) {
    super(message);
    this.name = "BadCredential";
    this.member = member;
  }
}

/**
 * Reads `{api_key, api_base or base_url, …}`; null members count as absent.
 * @throws BadCredential
 */
export function readCredential(members: Readonly<Record<string, unknown>>): SuppliedCredential {
  const fields: Record<string, string> = {};
  let apiKey: string | undefined;
  let baseUrl: string | undefined;
  for (const [member, value] of Object.entries(members)) {
    if (value === null || value === undefined || value === "") continue;
    if (typeof value !== "string" && typeof value !== "number") throw new BadCredential(member, "must be a text");
    const text = String(value);
    if (member === "api_key") apiKey = readHeaderText(member, text);
    else if (member === "api_base" || member === "base_url") baseUrl = readBaseUrl(member, text);
    else addField(fields, member, text);
  }
  return { credential: { ...(apiKey !== undefined && { apiKey }), fields }, baseUrl };
}

function addField(fields: Record<string, string>, member: string, text: string): void {
  const name = lookUp(fieldAliases, member) ?? member;
  if (!memberPattern.test(member)) throw new BadCredential(member.slice(0, 64), "is not a valid member name");
  if (name === "region" && !regionPattern.test(text))
    throw new BadCredential(member, "must be a region, as in us-east-1");
  fields[name] = readHeaderText(member, text);
}

function readHeaderText(member: string, text: string): string {
  const trimmed = text.trim();
  if (trimmed.length > gatewayLimits.credentialChars) {
    throw new BadCredential(member, `must have at most ${gatewayLimits.credentialChars} characters`);
  }
  if (!headerText.test(trimmed)) throw new BadCredential(member, "must be printable ASCII");
  return trimmed;
}

/**
 * Returns an http(s) address without its trailing slash. It must have no user, query or fragment. @throws BadCredential
 */
function readBaseUrl(member: string, text: string): string {
  const url = text.length > 2048 ? null : URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new BadCredential(member, "must be an http:// or https:// address");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "" || /[?#@]/.test(url.host)) {
    throw new BadCredential(member, "must be an address without user, query and fragment");
  }
  return url.href.replace(/\/+$/, "");
}

/** Whether the credential contains something that authorizes a call. */
export function hasSecret({ apiKey, fields }: Credential): boolean {
  return apiKey !== undefined || fields["secret_access_key"] !== undefined;
}
