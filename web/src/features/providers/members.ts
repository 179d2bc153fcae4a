import type { KnownProvider } from "./queries.ts";

/** A member of a credential. */
export type Member = KnownProvider["credential_members"][number];

export type MemberField = {
  name: Member;
  label: string;
  /** Never shown again once stored. */
  isSecret?: true;
};

/** In form order. */
const fields: readonly MemberField[] = [
  { name: "api_key", label: "API key", isSecret: true },
  { name: "access_key_id", label: "Access key ID" },
  { name: "secret_access_key", label: "Secret access key", isSecret: true },
  { name: "session_token", label: "Session token", isSecret: true },
  { name: "region", label: "Region" },
  { name: "account_id", label: "Account ID" },
  { name: "api_version", label: "API version" },
  { name: "base_url", label: "Base URL" },
];

/** For a server that Spanway does not know by name. */
const ofOwnServer: readonly Member[] = ["api_key", "base_url"];

/** The members that make up a key: they are replaced together. */
const keyParts = new Set<Member>(["api_key", "access_key_id", "secret_access_key", "session_token"]);

/** The credential fields that the provider supports. */
export function memberFields(known: KnownProvider | undefined): MemberField[] {
  const members = new Set<Member>(known?.credential_members ?? ofOwnServer);
  return fields.filter(({ name }) => members.has(name));
}

export function keyFields(known: KnownProvider | undefined): MemberField[] {
  return memberFields(known).filter(({ name }) => keyParts.has(name));
}
