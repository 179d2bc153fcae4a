import type {
  LoadedPriceTable,
  ModelPrice,
  ModelPriceFields,
  PriceOwner,
  PriceRevision,
} from "../../domain/model-price.ts";

/** The rows of own prices. Every method except `revisions` names the owner. Times are ISO 8601, UTC. */
export type ModelPriceStore = {
  /**
   * Announces a change that follows in the same transaction: other changes of the owner's prices wait until that ends.
   * Returns the revision of the changed price.
   */
  announce: (owner: PriceOwner, change: { isRemoval: boolean }) => Promise<number>;
  create: (price: ModelPrice, revision: number) => Promise<void>;
  /** A page in order of creation, and the total count. */
  list: (
    owner: PriceOwner,
    page: { offset: number; limit: number },
  ) => Promise<{ count: number; prices: ModelPrice[] }>;
  find: (owner: PriceOwner, id: string) => Promise<ModelPrice | undefined>;
  /** The number of prices, and of those with a `*`, without the price `exceptId`. */
  count: (owner: PriceOwner, exceptId: string) => Promise<{ all: number; patterns: number }>;
  /** A price of the same model and provider whose validity overlaps. */
  findOverlap: (owner: PriceOwner, fields: ModelPriceFields, exceptId: string) => Promise<ModelPrice | undefined>;
  /** False if there is no such price. */
  replace: (price: ModelPrice, revision: number) => Promise<boolean>;
  delete: (owner: PriceOwner, id: string) => Promise<boolean>;
  /** The revisions of all owners that have ever had a price. */
  revisions: () => Promise<PriceRevision[]>;
  /** Prices changed after a revision, 0 for all. */
  listSince: (owner: PriceOwner, revision: number) => Promise<ModelPrice[]>;
};

/** Price tables that the operator loaded from files, for all nodes. `content` is the file's JSON. */
export type PriceTableStore = {
  /** Retains the newest `storageLimits.priceTables`. Call it inside a transaction. */
  add: (table: Omit<LoadedPriceTable, "id"> & { content: string }) => Promise<LoadedPriceTable>;
  /** Newest first. */
  list: () => Promise<LoadedPriceTable[]>;
  read: (id: number) => Promise<string | undefined>;
  /** Removes the newest table and returns it. Returns undefined if there is no table. */
  removeNewest: () => Promise<LoadedPriceTable | undefined>;
};
