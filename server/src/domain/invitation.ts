import type { Role } from "./permissions.ts";

/** Lets a person become a member, once, until it expires. Only a hash of its token is stored. */
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
