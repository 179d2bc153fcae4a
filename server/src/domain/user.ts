import type { Role } from "./permissions.ts";

/** A person, member of one organization. */
export type User = {
  id: string;
  unique_organization_id: string;
  /** Lower case, unique in the whole instance. */
  email: string;
  role: Role;
  /** May create organizations. */
  is_instance_admin: boolean;
  created_at: string;
};

/** Addresses that differ only in case are one account. */
export function canonicalEmail(email: string): string {
  return email.trim().toLowerCase();
}
