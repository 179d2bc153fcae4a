import { ServiceError } from "../../domain/errors.ts";
import type { Role } from "../../domain/permissions.ts";
import type { User } from "../../domain/user.ts";
import type { ControlQueries } from "./open-control-database.ts";
import type { UserRow } from "./schema.ts";

type NewUser = User & { password_hash: string };
type UserWithPassword = User & { password_hash: string };

export type UserStore = {
  /** Throws `conflict` if the address has an account already. `email` is in canonical form, here and below. */
  create: (user: NewUser) => Promise<User>;
  find: (id: string) => Promise<User | undefined>;
  findByEmail: (email: string) => Promise<UserWithPassword | undefined>;
  /** The organization's users, oldest first. */
  list: (uniqueOrganizationId: string) => Promise<User[]>;
  /**
   * Also ends every session: older tokens, browser cookies, one-time codes and the user's temporary keys stop working.
   * Runs several statements, so call it in a transaction. False if there is no such user.
   */
  setPassword: (id: string, passwordHash: string) => Promise<boolean>;
  /** Also removes the user's sessions and keys; call it in a transaction. False if there is no such member. */
  remove: (uniqueOrganizationId: string, id: string) => Promise<boolean>;
  /**
   * Also ends the user's temporary keys, which have the permissions of the old role. Call it in a transaction.
   * Undefined if there is no such member.
   */
  setRole: (uniqueOrganizationId: string, id: string, role: Role) => Promise<User | undefined>;
  /**
   * Locks the user until this transaction ends, waiting for others that change the user. False if the user was deleted,
   * or no longer matches `was`. Call it in a transaction.
   */
  lock: (id: string, was: { role?: Role; password_hash?: string }) => Promise<boolean>;
  /** The number of admins without this person: of the organization, and of the instance. */
  countOtherAdmins: (
    uniqueOrganizationId: string,
    id: string,
  ) => Promise<{ ofOrganization: number; ofInstance: number }>;
};

export function createUserStore(queries: ControlQueries): UserStore {
  return {
    create: async (user) => {
      const created = await queries
        .insertInto("users")
        .values({ ...user, is_instance_admin: Number(user.is_instance_admin), token_version: unused })
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
      // Comes first, so that a running sign-in by a code commits its session before the sessions are ended.
      await queries.deleteFrom("sign_in_codes").where("user_id", "=", id).execute();
      const { numUpdatedRows } = await queries
        .updateTable("users")
        .set({ password_hash: passwordHash })
        .where("id", "=", id)
        .executeTakeFirst();
      await queries.deleteFrom("api_keys").where("user_id", "=", id).execute();
      await queries.deleteFrom("sessions").where("user_id", "=", id).execute();
      return numUpdatedRows > 0n;
    },

    ...memberMethods(queries),
  };
}

/** From before there were sessions. */
const unused = 1;

function memberMethods(queries: ControlQueries): Pick<UserStore, "remove" | "setRole" | "lock" | "countOtherAdmins"> {
  return {
    remove: async (uniqueOrganizationId, id) => {
      // Keys and sessions are deleted with the user.
      const { numDeletedRows } = await queries
        .deleteFrom("users")
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    setRole: async (uniqueOrganizationId, id, role) => {
      const row = await queries
        .updateTable("users")
        .set({ role })
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst();
      if (row !== undefined) await queries.deleteFrom("api_keys").where("user_id", "=", id).execute();
      return row && toUser(row);
    },

    lock: async (id, was) => {
      const { numUpdatedRows } = await queries
        .updateTable("users")
        .set((column) => ({ email: column.ref("email") }))
        .where((column) => column.and({ id, ...was }))
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    countOtherAdmins: async (uniqueOrganizationId, id) => {
      const others = queries.selectFrom("users").select((column) => column.fn.countAll().as("count"));
      const ofOrganization = await others
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("role", "=", "admin")
        .where("id", "!=", id)
        .executeTakeFirstOrThrow();
      const ofInstance = await others
        .where("is_instance_admin", "=", 1)
        .where("id", "!=", id)
        .executeTakeFirstOrThrow();
      return { ofOrganization: Number(ofOrganization.count), ofInstance: Number(ofInstance.count) };
    },
  };
}

export function toUser(row: UserRow): User {
  return {
    id: row.id,
    unique_organization_id: row.unique_organization_id,
    email: row.email,
    role: asRole(row.role),
    is_instance_admin: row.is_instance_admin === 1,
    created_at: row.created_at,
  };
}

/** Safe because only `create` and `setRole` write the column, from a Role. */
function asRole(role: string): Role {
  return role as Role;
}
