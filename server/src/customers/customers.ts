import type { Customer, CustomerKey } from "../domain/customer.ts";
import { ServiceError } from "../domain/errors.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { SpendState } from "../storage/control/customer-ledger.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { CustomerReplicator } from "./customer-replicator.ts";
import type { CustomerErasures } from "./erasures.ts";
import type { CustomerChange } from "./fields.ts";
import type { CustomerProfiles } from "./profiles.ts";

/** Customers as the API shows them: those with a profile, or named by a span. */
export type Customers = {
  find(key: CustomerKey, signal: AbortSignal): Promise<Customer | undefined>;
  findMany(keys: readonly CustomerKey[]): Promise<Customer[]>;
  /** In lists once it resolves. @throws ServiceError `conflict` if it exists already, `invalid_request` by field */
  create(key: CustomerKey, fields: CustomerChange): Promise<Customer>;
  /**
   * In lists once it resolves; undefined if there is no such customer. @throws ServiceError `invalid_request` by field
   */
  update(key: CustomerKey, change: CustomerChange, signal: AbortSignal): Promise<Customer | undefined>;
  /**
   * Permanently deletes profile, budgets and identity, also from spans, before it resolves. False: there is no such
   * customer.
   * @param settle waits, with a time limit, until everything this node has accepted is stored
   */
  remove(key: CustomerKey, settle: () => Promise<void>, signal: AbortSignal): Promise<boolean>;
  /** The ledger's state of a customer with a budget. */
  spendOf(key: CustomerKey): Promise<SpendState | undefined>;
};

export type CustomersDeps = {
  stores: ControlStores;
  profiles: CustomerProfiles;
  replicator: Pick<CustomerReplicator, "caughtUp">;
  erasures: Pick<CustomerErasures, "erase">;
  spans: Pick<SpanStore, "describeCustomers">;
};

export function createCustomers({ stores, profiles, replicator, erasures, spans }: CustomersDeps): Customers {
  const find = async (key: CustomerKey, signal: AbortSignal): Promise<Customer | undefined> => {
    const known = await profiles.find(key);
    if (known !== undefined) return known;
    const { organization_id, environment, customer_identifier } = key;
    const scope = { organization_id, environment };
    const [stated] = await spans.describeCustomers({ scope, identifiers: [customer_identifier] }, signal);
    if (stated === undefined) return undefined;
    // Its spans are stored, but have not been processed by `customer-observer.ts` yet.
    return await profiles.create({ ...key, first_seen: `${stated.first_timestamp.slice(0, 23).replace(" ", "T")}Z` });
  };

  return {
    find,
    findMany: (keys) => stores.customers.findMany(keys),
    spendOf: (key) => stores.customerLedger.find(key),
    async create(key, fields) {
      if ((await profiles.find(key)) !== undefined) {
        throw new ServiceError("conflict", `The customer ${key.customer_identifier} exists already.`);
      }
      const created = await profiles.create(key);
      const changed = (await profiles.edit(key, fields)) ?? created;
      await replicator.caughtUp();
      return changed;
    },
    async update(key, change, signal) {
      if ((await find(key, signal)) === undefined) return undefined;
      const changed = await profiles.edit(key, change);
      await replicator.caughtUp();
      return changed;
    },
    async remove(key, settle, signal) {
      if ((await find(key, signal)) === undefined) {
        // It may have been named a moment ago.
        await settle();
        if ((await find(key, signal)) === undefined) return false;
      }
      await erasures.erase(key, settle);
      return true;
    },
  };
}
