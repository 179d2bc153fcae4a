import { ServiceError } from "../../domain/errors.ts";
import type { Role } from "../../domain/permissions.ts";
import type { User } from "../../domain/user.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { UserRow } from "./schema.ts";

type NewUser = Omit<User, "token_version"> & { password_hash: string };
type UserWithPassword = User & { password_hash: string };

export type UserStore = {
  /** Throws `conflict` when the address has an account already. `email` is in its canonical form, here and below. */
  create: (user: NewUser) => Promise<User>;
  find: (id: string) => Promise<User | undefined>;
  findByEmail: (email: string) => Promise<UserWithPassword | undefined>;
  /** The organisation's people, oldest first. */
  list: (uniqueOrganizationId: string) => Promise<User[]>;
  /**
   * Also ends every session: older tokens and the user's temporary keys are worthless from now on.
   * Takes two statements, so call it in a transaction. False: no such user.
   */
  setPassword: (id: string, passwordHash: string) => Promise<boolean>;
};

export function createUserStore(queries: ControlQueries): UserStore {
  return {
    create: async (user) => {
      const created = await queries
        .insertInto("users")
        .values({ ...user, is_instance_admin: Number(user.is_instance_admin), token_version: 1 })
        .onConflict((conflict) => conflict.column("email").doNothing())
        .returningAll()
        .executeTakeFirst();
      if (created === undefined) throw new ServiceError("conflict", `${user.email} has an account already.`);
      return toUser(created);
    },

    find: async (id) => {
      const row = await queries.selectFrom("users").selectAll().where("id", "=", id).executeTakeFirst();
      return row && toUser(row);
    },

    findByEmail: async (email) => {
      const row = await queries.selectFrom("users").selectAll().where("email", "=", email).executeTakeFirst();
      return row && { ...toUser(row), password_hash: row.password_hash };
    },

    list: async (uniqueOrganizationId) => {
      const rows = await queries
        .selectFrom("users")
        .selectAll()
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .orderBy("created_at")
        .orderBy("id")
        .execute();
      return rows.map(toUser);
    },

    setPassword: async (id, passwordHash) => {
      const { numUpdatedRows } = await queries
        .updateTable("users")
        .set((column) => ({ password_hash: passwordHash, token_version: column("token_version", "+", 1) }))
        .where("id", "=", id)
        .executeTakeFirst();
      await queries.deleteFrom("api_keys").where("user_id", "=", id).execute();
      return numUpdatedRows > 0n;
    },
  };
}

function toUser(row: UserRow): User {
  return {
    id: row.id,
    unique_organization_id: row.unique_organization_id,
    email: row.email,
    role: asRole(row.role),
    is_instance_admin: row.is_instance_admin === 1,
    token_version: row.token_version,
    created_at: row.created_at,
  };
}

/** Only `create` writes the column, and it takes a Role. */
function asRole(role: string): Role {
  return role as Role;
}
