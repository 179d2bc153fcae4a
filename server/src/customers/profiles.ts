import { customerKeyText, type Customer, type CustomerFields, type CustomerKey } from "../domain/customer.ts";
import { ServiceError } from "../domain/errors.ts";
import type { ErasedCustomers } from "../ingest/accept/erased-customers.ts";
import { ExpiringLru } from "../lib/expiring-lru.ts";
import type { ControlWatch } from "../storage/control/control-watch.ts";
import type { CustomerStore } from "../storage/control/customer-store.ts";
import { applyChange, type CustomerChange } from "./fields.ts";
import { customersLimits } from "./limits.ts";

/** Customers of the control store, with a memory for those that calls name repeatedly. */
export type CustomerProfiles = {
  find(key: CustomerKey): Promise<Customer | undefined>;
  /**
   * The same from memory, at most `customersLimits.cachedCustomerMs` old; older if the store is unavailable. Most calls
   * name customers in memory: that costs one map lookup.
   */
  findCached(key: CustomerKey): Customer | undefined | Promise<Customer | undefined>;
  /** Undefined if there is no such customer. @throws ServiceError `invalid_request` with the problems by field */
  edit(key: CustomerKey, change: CustomerChange): Promise<Customer | undefined>;
  /**
   * Applies what a call or a span states about its customer, who is created if unknown. Only values that differ from
   * the last stated ones change a field: an edit holds until a new value is stated.
   */
  observe(key: CustomerKey, stated: CustomerChange, firstSeen?: string): Promise<Customer>;
  /** The same for many customers. */
  observeAll(all: readonly CustomerObservation[]): Promise<void>;
  create(customer: CustomerKey & { first_seen?: string }): Promise<Customer>;
  /** Remembers customers with a budget or a rate limit; `areAll`: no others have one. */
  learnBounded(customers: readonly Customer[], areAll: boolean): void;
  /** Makes the next call read the customer again. */
  evict(key: CustomerKey): void;
};

export type CustomerObservation = { key: CustomerKey; stated: CustomerChange; firstSeen: string };

export type ProfileDeps = {
  customers: CustomerStore;
  control: Pick<ControlWatch, "orStale">;
  /** A customer that was deleted is created again after its deletion, whatever the clock says. */
  erasedCustomers?: Pick<ErasedCustomers, "erasedAtNs">;
  /** Called after a write, so that lists are updated. */
  changed: () => void;
  now: () => number;
};

export function createCustomerProfiles(deps: ProfileDeps): CustomerProfiles {
  const { customers, erasedCustomers, changed, now } = deps;
  const memory = createProfileMemory(deps);
  const madeAtMs = (key: CustomerKey): number => {
    const erasedNs = erasedCustomers?.erasedAtNs(key);
    return erasedNs === undefined ? now() : Math.max(now(), Number(erasedNs / 1_000_000n) + 1);
  };
  const find = (key: CustomerKey): Promise<Customer | undefined> => memory.read(key, () => customers.find(key));
  /** If another node changes the customer at the same moment, it is read and changed again. */
  const change = async (
    key: CustomerKey,
    edit: (current: Customer) => Partial<Customer>,
  ): Promise<Customer | undefined> => {
    for (let attempt = 0; attempt < customersLimits.customerChangeAttempts; attempt += 1) {
      const current = await find(key);
      if (current === undefined) return undefined;
      const fields = edit(current);
      if (Object.keys(fields).length === 0) return current;
      const next = { ...current, ...fields, updated_at: laterThan(current.updated_at, now()) };
      if (!(await customers.replace(next, current.updated_at))) continue;
      memory.remember(next, next);
      changed();
      return next;
    }
    throw new ServiceError("unavailable", "The customer is being changed by others. Try again.", { retryAfterS: 1 });
  };
  const add = async (made: readonly Customer[]): Promise<void> => {
    await customers.create(made);
    for (const customer of made) memory.evict(customer);
    changed();
  };
  /**
   * Spans arrive in any order of time, so an earlier first sight is by far the most frequent change: many are written
   * with one statement. Returns those that must be handled one by one.
   */
  const moveFirstSeen = async (sightings: readonly CustomerObservation[]): Promise<CustomerObservation[]> => {
    if (sightings.length === 0) return [];
    const moved = await customers.moveFirstSeen(sightings, new Date(now()).toISOString());
    for (const key of moved) memory.evict(key);
    if (moved.length > 0) changed();
    const done = new Set(moved.map(customerKeyText));
    return sightings.filter(({ key }) => !done.has(customerKeyText(key)));
  };
  const observe: CustomerProfiles["observe"] = async (key, stated, firstSeen) => {
    const edit = (current: Customer) => observed(current, stated, firstSeen, now());
    const known = await change(key, edit);
    if (known !== undefined) return known;
    await add([introduced(key, stated, firstSeen, madeAtMs(key))]);
    // Another node may have created it first, with other values.
    const made = await change(key, edit);
    if (made === undefined) throw new ServiceError("unavailable", "The customer is being deleted. Try again.");
    return made;
  };

  return {
    find,
    observe,
    findCached: (key) => memory.findCached(key, () => find(key)),
    learnBounded(bounded, areAll) {
      for (const customer of bounded) memory.learn(customer);
      memory.setComplete(areAll);
    },
    evict: (key) => memory.evict(key),
    async create(key) {
      const customer = newCustomer(key, madeAtMs(key));
      await add([customer]);
      return (await find(key)) ?? customer;
    },
    edit: (key, given) =>
      change(key, (current) => {
        const result = applyChange(current, given, now());
        if ("fields" in result) return result.fields;
        throw invalid(result.errors);
      }),
    async observeAll(all) {
      const { strangers, saying, earlier } = sorted(all, await customers.findMany(all.map(({ key }) => key)));
      if (strangers.length > 0) {
        await add(strangers.map(({ key, stated, firstSeen }) => introduced(key, stated, firstSeen, madeAtMs(key))));
      }
      const unmoved = await moveFirstSeen(earlier);
      for (const { key, stated, firstSeen } of [...saying, ...unmoved]) await observe(key, stated, firstSeen);
    },
  };
}

/**
 * Sorts out sightings that change something: unknown customers, changed fields, and those with only an earlier first
 * sight.
 */
function sorted(
  all: readonly CustomerObservation[],
  known: readonly Customer[],
): Record<"strangers" | "saying" | "earlier", CustomerObservation[]> {
  const customers = new Map(known.map(keyed));
  const groups = {
    strangers: [] as CustomerObservation[],
    saying: [] as CustomerObservation[],
    earlier: [] as CustomerObservation[],
  };
  for (const each of all) {
    const customer = customers.get(customerKeyText(each.key));
    if (customer === undefined) groups.strangers.push(each);
    else if (Object.keys(changedFields(customer, each.stated)).length > 0) groups.saying.push(each);
    else if (each.firstSeen < customer.first_seen) groups.earlier.push(each);
  }
  return groups;
}

/** The values that differ from those last stated. */
export function changedFields(customer: Pick<Customer, "sent">, stated: CustomerChange): Partial<CustomerFields> {
  const entries = Object.entries(stated).filter(([field, value]) => {
    const before = customer.sent[field as keyof CustomerFields];
    return value !== undefined && JSON.stringify(value) !== JSON.stringify(before);
  });
  return Object.fromEntries(entries);
}

function observed(
  current: Customer,
  stated: CustomerChange,
  firstSeen: string | undefined,
  nowMs: number,
): Partial<Customer> {
  const earlier = firstSeen !== undefined && firstSeen < current.first_seen ? { first_seen: firstSeen } : {};
  const changed = changedFields(current, stated);
  if (Object.keys(changed).length === 0) return earlier;
  const result = applyChange(current, changed, nowMs);
  if ("errors" in result) throw invalid(result.errors);
  return { ...earlier, ...result.fields, sent: { ...current.sent, ...changed } };
}

function keyed(customer: Customer): [string, Customer] {
  return [customerKeyText(customer), customer];
}

function introduced(key: CustomerKey, stated: CustomerChange, firstSeen: string | undefined, nowMs: number): Customer {
  const customer = newCustomer({ ...key, ...(firstSeen !== undefined && { first_seen: firstSeen }) }, nowMs);
  return { ...customer, ...observed(customer, stated, firstSeen, nowMs) };
}

function newCustomer(key: CustomerKey & { first_seen?: string }, nowMs: number): Customer {
  const created_at = new Date(nowMs).toISOString();
  return {
    organization_id: key.organization_id,
    environment: key.environment,
    customer_identifier: key.customer_identifier,
    email: null,
    name: null,
    metadata: {},
    group_identifier: null,
    period_budget: null,
    budget_duration: null,
    period_start: null,
    period_end: null,
    total_budget: null,
    markup_percentage: 0,
    rate_limit: null,
    unpriced_calls: null,
    sent: {},
    first_seen: key.first_seen ?? created_at,
    created_at,
    updated_at: created_at,
  };
}

/** Change times increase even if clocks differ: the span store keeps the highest. */
function laterThan(updatedAt: string, nowMs: number): string {
  return new Date(Math.max(nowMs, Date.parse(updatedAt) + 1)).toISOString();
}

function invalid(errors: Record<string, string[]>): ServiceError {
  const [field, messages] = Object.entries(errors)[0] ?? ["", []];
  return new ServiceError("invalid_request", `${field}: ${messages[0] ?? "is not valid"}`, { errors });
}

/** Caches the last read of each customer, also when the customer does not exist. */
type ProfileMemory = {
  /** Remembers the result of `find`, unless the customer was changed meanwhile: then it may be older. */
  read(key: CustomerKey, find: () => Promise<Customer | undefined>): Promise<Customer | undefined>;
  /** Remembers what was written. */
  remember(key: CustomerKey, customer: Customer): void;
  /** Remembers what was read, unless a newer version is known. */
  learn(customer: Customer): void;
  evict(key: CustomerKey): void;
  /** Sets whether every customer with a budget or a rate limit was recently remembered. */
  setComplete(hasAllBounded: boolean): void;
  /**
   * Returns an entry younger than `customersLimits.cachedCustomerMs`, otherwise the result of `read`. While the control
   * store is unavailable, returns an older entry, or undefined if all customers with limits are in memory.
   */
  findCached(
    key: CustomerKey,
    read: () => Promise<Customer | undefined>,
  ): Customer | undefined | Promise<Customer | undefined>;
};

function createProfileMemory({
  control,
  now,
}: {
  control: Pick<ControlWatch, "orStale">;
  now: () => number;
}): ProfileMemory {
  let hasAllBounded = false;
  /** The last read of each customer that is under way, unless the customer was changed since it began. */
  const reads = new Map<string, Promise<Customer | undefined>>();
  const memory = new ExpiringLru<string, { customer: Customer | undefined; readAtMs: number }>({
    maxEntries: customersLimits.cachedCustomers,
    ttlMs: Number.MAX_SAFE_INTEGER,
    nowMs: now,
  });
  const set = (text: string, customer: Customer | undefined) => memory.set(text, { customer, readAtMs: now() });
  return {
    async read(key, find) {
      const text = customerKeyText(key);
      const reading = find();
      reads.set(text, reading);
      const isLast = () => reads.get(text) === reading;
      try {
        const customer = await reading;
        if (isLast()) set(text, customer);
        return customer;
      } finally {
        if (isLast()) reads.delete(text);
      }
    },
    setComplete: (isComplete) => void (hasAllBounded = isComplete),
    remember(key, customer) {
      reads.delete(customerKeyText(key));
      set(customerKeyText(key), customer);
    },
    learn(customer) {
      const known = memory.get(customerKeyText(customer))?.customer;
      if (known === undefined || known.updated_at <= customer.updated_at) set(customerKeyText(customer), customer);
    },
    evict(key) {
      reads.delete(customerKeyText(key));
      memory.delete(customerKeyText(key));
    },
    findCached(key, read) {
      const known = memory.get(customerKeyText(key));
      if (known !== undefined && now() - known.readAtMs < customersLimits.cachedCustomerMs) return known.customer;
      const stale = known !== undefined || hasAllBounded ? () => known?.customer : undefined;
      return control.orStale("customer", read, stale);
    },
  };
}
