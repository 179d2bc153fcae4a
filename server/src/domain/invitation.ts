import type { Role } from "./permissions.ts";

/** What lets somebody become a member, once, until it expires. Its token is kept as a hash only. */
export type Invitation = {
  id: string;
  unique_organization_id: string;
  /** In its canonical form. */
  email: string;
  role: Role;
  /** ISO 8601, UTC. */
  created_at: string;
  expires_at: string;
};
