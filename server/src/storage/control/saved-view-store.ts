import { ServiceError } from "../../domain/errors.ts";
import type { SavedView } from "../../domain/saved-view.ts";
import { storageLimits } from "../limits.ts";
import type { ControlQueries } from "./open-control-database.ts";

export type SavedViewChange = Partial<Pick<SavedView, "name" | "search">> & Pick<SavedView, "updated_at">;

/** Every method concerns the views of one organization. */
export type SavedViewStore = {
  /** @throws ServiceError `conflict` if the name is taken, or at as many as `limits.ts` allows */
  create: (view: SavedView) => Promise<void>;
  /** By name; at most `storageLimits.savedViewsPerOrganization`. */
  list: (uniqueOrganizationId: string) => Promise<SavedView[]>;
  /**
   * Changes the given members and returns the result; undefined if there is no such view. @throws ServiceError as
   * `create`
   */
  update: (uniqueOrganizationId: string, id: string, change: SavedViewChange) => Promise<SavedView | undefined>;
  /** Whether it existed. */
  remove: (uniqueOrganizationId: string, id: string) => Promise<boolean>;
};

/** Use it in a transaction that has locked the organization: methods read before they write. */
export function createSavedViewStore(queries: ControlQueries): SavedViewStore {
  const list: SavedViewStore["list"] = (uniqueOrganizationId) =>
    queries
      .selectFrom("saved_views")
      .selectAll()
      .where("unique_organization_id", "=", uniqueOrganizationId)
      .orderBy("name")
      .orderBy("id")
      .execute();

  return {
    list,

    create: async (view) => {
      const others = await list(view.unique_organization_id);
      refuseTaken(view, others);
      const max = storageLimits.savedViewsPerOrganization;
      if (others.length >= max) throw new ServiceError("conflict", `There are ${max} saved views already.`);
      await queries.insertInto("saved_views").values(view).execute();
    },

    update: async (uniqueOrganizationId, id, change) => {
      const all = await list(uniqueOrganizationId);
      const found = all.find((view) => view.id === id);
      if (found === undefined) return undefined;
      const changed = { ...found, ...change };
      refuseTaken(
        changed,
        all.filter((view) => view !== found),
      );
      await queries
        .updateTable("saved_views")
        .set(change)
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .execute();
      return changed;
    },

    remove: async (uniqueOrganizationId, id) => {
      const { numDeletedRows } = await queries
        .deleteFrom("saved_views")
        .where("unique_organization_id", "=", uniqueOrganizationId)
        .where("id", "=", id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

function refuseTaken({ screen, name }: SavedView, others: readonly SavedView[]): void {
  if (!others.some((other) => other.screen === screen && other.name === name)) return;
  const message = "A view of this screen has this name already.";
  throw new ServiceError("conflict", message, { errors: { name: [message] } });
}
