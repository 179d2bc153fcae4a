import type { Customer, CustomerKey } from "../domain/customer.ts";
import { ServiceError } from "../domain/errors.ts";
import type { ControlStores } from "../storage/control/control-stores.ts";
import type { SpendState } from "../storage/control/customer-ledger.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { CustomerMirror } from "./customer-mirror.ts";
import type { CustomerErasures } from "./erasures.ts";
import type { CustomerChange } from "./fields.ts";
import type { CustomerProfiles } from "./profiles.ts";

/** Customers as the API sees them: whoever has a profile, or is named by a span. */
export type Customers = {
  find(key: CustomerKey, signal: AbortSignal): Promise<Customer | undefined>;
  findMany(keys: readonly CustomerKey[]): Promise<Customer[]>;
  /** In lists once it resolves. @throws ServiceError `conflict` where there is one already, `invalid_request` by field */
  create(key: CustomerKey, fields: CustomerChange): Promise<Customer>;
  /** In lists once it resolves; undefined where there is no such customer. @throws ServiceError `invalid_request` by field */
  update(key: CustomerKey, change: CustomerChange, signal: AbortSignal): Promise<Customer | undefined>;
  /**
   * Profile, budgets and identity are gone for good, also from spans, when it resolves. False: there is no such customer.
   * @param settle waits until what this node has accepted is stored, for a while
   */
  remove(key: CustomerKey, settle: () => Promise<void>, signal: AbortSignal): Promise<boolean>;
  /** What the ledger knows of a budgeted customer. */
  spendOf(key: CustomerKey): Promise<SpendState | undefined>;
};

export type CustomersDeps = {
  stores: ControlStores;
  profiles: CustomerProfiles;
  mirror: Pick<CustomerMirror, "caughtUp">;
  erasures: Pick<CustomerErasures, "erase">;
  spans: Pick<SpanStore, "describeCustomers">;
};

export function createCustomers({ stores, profiles, mirror, erasures, spans }: CustomersDeps): Customers {
  const find = async (key: CustomerKey, signal: AbortSignal): Promise<Customer | undefined> => {
    const known = await profiles.find(key);
    if (known !== undefined) return known;
    const { organization_id, environment, customer_identifier } = key;
    const scope = { organization_id, environment };
    const [said] = await spans.describeCustomers({ scope, identifiers: [customer_identifier] }, signal);
    if (said === undefined) return undefined;
    // Its spans are stored, but have not been heard of here.
    return await profiles.create({ ...key, first_seen: `${said.first_timestamp.slice(0, 23).replace(" ", "T")}Z` });
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
      await mirror.caughtUp();
      return changed;
    },
    async update(key, change, signal) {
      if ((await find(key, signal)) === undefined) return undefined;
      const changed = await profiles.edit(key, change);
      await mirror.caughtUp();
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
