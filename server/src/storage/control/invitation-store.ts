import type { Selectable } from "kysely";
import { ServiceError } from "../../domain/errors.ts";
import type { Invitation } from "../../domain/invitation.ts";
import type { Role } from "../../domain/permissions.ts";
import { storageLimits } from "../limits.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { InvitationTable } from "./schema.ts";

/** Expired invitations are neither found, listed, changed nor taken. Times are ISO 8601, UTC. */
export type InvitationStore = {
  /**
   * Replaces an earlier invitation of the same address, whose token stops working.
   * Throws `conflict` if the organization has as many as `storageLimits.invitationsPerOrganization`. Call it after
   * `organizations.lock`.
   */
  create: (invitation: Invitation & { token_hash: string }) => Promise<Invitation>;
  /** The organization's invitations, oldest first. */
  list: (uniqueOrganizationId: string, now: string) => Promise<Invitation[]>;
  findByToken: (tokenHash: string, now: string) => Promise<Invitation | undefined>;
  setRole: (uniqueOrganizationId: string, id: string, role: Role, now: string) => Promise<Invitation | undefined>;
  /** Deletes the invitation and returns it. Undefined if it does not exist or another request took it. */
  take: (tokenHash: string, now: string) => Promise<Invitation | undefined>;
  /** False if the invitation does not exist. */
  delete: (uniqueOrganizationId: string, id: string) => Promise<boolean>;
};

export function createInvitationStore(queries: ControlQueries): InvitationStore {
  return {
    create: async (invitation) => {
      const { unique_organization_id, email, created_at } = invitation;
      await queries.deleteFrom("invitations").where("expires_at", "<=", created_at).execute();
      await queries
        .deleteFrom("invitations")
        .where("unique_organization_id", "=", unique_organization_id)
        .where("email", "=", email)
        .execute();
      const { count } = await queries
        .selectFrom("invitations")
        .select((column) => column.fn.countAll().as("count"))
        .where("unique_organization_id", "=", unique_organization_id)
        .executeTakeFirstOrThrow();
      const most = storageLimits.invitationsPerOrganization;
      if (Number(count) >= most)
        throw new ServiceError("conflict", `There are ${most} open invitations; end some first.`);
      const row = await queries.insertInto("invitations").values(invitation).returningAll().executeTakeFirstOrThrow();
      return toInvitation(row);
    },

    list: async (uniqueOrganizationId, now) => {
      const rows = await queries
        .selectFrom("invitations")
        .selectAll()
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("expires_at", ">", now)
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return rows.map(toInvitation);
    },

    findByToken: async (tokenHash, now) => {
      const row = await queries
        .selectFrom("invitations")
        .selectAll()
        .where("token_hash", "=", tokenHash)
        .where("expires_at", ">", now)
        .executeTakeFirst();
      return row && toInvitation(row);
    },

    setRole: async (uniqueOrganizationId, id, role, now) => {
      const row = await queries
        .updateTable("invitations")
        .set({ role })
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .where("expires_at", ">", now)
        .returningAll()
        .executeTakeFirst();
      return row && toInvitation(row);
    },

    take: async (tokenHash, now) => {
      const row = await queries
        .deleteFrom("invitations")
        .where("token_hash", "=", tokenHash)
        .where("expires_at", ">", now)
        .returningAll()
        .executeTakeFirst();
      return row && toInvitation(row);
    },

    delete: async (uniqueOrganizationId, id) => {
      const { numDeletedRows } = await queries
        .deleteFrom("invitations")
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

/** Safe because only `create` and `setRole` write the role. */
function toInvitation(row: Selectable<InvitationTable>): Invitation {
  const { token_hash: _hash, ...invitation } = row;
  return { ...invitation, role: row.role as Role };
}
