import type { z } from "zod";
import { ServiceError } from "../domain/errors.ts";
import type { ModelPrice, PriceOwner } from "../domain/model-price.ts";
import { pricingLimits } from "../pricing/limits.ts";
import { createPriceChanges } from "../pricing/own/change-prices.ts";
import { newModelPriceSchema } from "../pricing/own/price-fields.ts";
import { UsageError, type AdminContext, type AdminResult, type Command, type Option, type Options } from "./command.ts";
import { noteOperator } from "./note-operator.ts";
import { findOrganization } from "./organization-commands.ts";

const ownerOption: Option = { value: "ID", description: "of this organization only; default: of all" };
const seen = `running servers apply it within ${pricingLimits.modelPriceRefreshMs / 1000 + 1} seconds`;

/** Null for the prices of all organizations. @throws ServiceError `not_found` */
async function ownerOf({ stores }: AdminContext, options: Options): Promise<PriceOwner> {
  const id = options.optional("organization");
  return id === undefined ? null : (await findOrganization(stores.organizations, id)).unique_organization_id;
}

/** Writes the change to the audit log of each organization that it concerns. */
export async function notePriceChange(
  context: AdminContext,
  owner: PriceOwner,
  done: { action: string; target: string | null; changes?: Record<string, unknown> },
): Promise<void> {
  const all = owner === null ? await context.stores.organizations.list() : [{ unique_organization_id: owner }];
  for (const { unique_organization_id: organization } of all) await noteOperator(context, { organization, ...done });
}

export const priceCommands: Command[] = [
  {
    name: "prices set",
    summary: `set the price of a model; ${seen}`,
    options: {
      model: { value: "NAME", description: "the model's name; * stands for any characters", required: true },
      rates: {
        value: "JSON",
        description: 'by bucket, USD per million tokens or per unit: {"input":0.5,"output":2}',
        required: true,
      },
      provider: { value: "NAME", description: "for calls of this provider only" },
      from: { value: "TIME", description: "when the price becomes valid" },
      to: { value: "TIME", description: "the first moment at which it is no longer valid" },
      organization: ownerOption,
    },
    run: async (context, options) => {
      const owner = await ownerOf(context, options);
      const fields = readFields(options);
      const price = await changesOf(context).create(owner, fields);
      await notePriceChange(context, owner, { action: "create_model_price", target: price.id, changes: fields });
      return shown(price);
    },
  },
  {
    name: "prices list",
    summary: "list the prices of all organizations, or those of one",
    options: { organization: ownerOption },
    run: async (context, options) => {
      const all = { offset: 0, limit: pricingLimits.modelPrices };
      const { prices } = await context.stores.modelPrices.list(await ownerOf(context, options), all);
      return prices.map(shown);
    },
  },
  {
    name: "prices delete",
    summary: `delete a price; ${seen}`,
    options: { id: { value: "ID", description: "as the list shows it", required: true }, organization: ownerOption },
    run: async (context, options): Promise<AdminResult> => {
      const [owner, id] = [await ownerOf(context, options), options.text("id")];
      await changesOf(context).delete(owner, id);
      await notePriceChange(context, owner, { action: "delete_model_price", target: id });
      return { deleted: id };
    },
  },
];

function changesOf({ stores, nowMs }: AdminContext) {
  return createPriceChanges({ stores, now: nowMs });
}

function readFields(options: Options): z.output<typeof newModelPriceSchema> {
  const read = newModelPriceSchema.safeParse({
    model: options.text("model"),
    provider: options.optional("provider"),
    rates: readJson(options.text("rates")),
    valid_from: options.optional("from"),
    valid_to: options.optional("to"),
  });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UsageError(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is not valid"}`);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceError("invalid_request", '--rates must be JSON: {"input":0.5,"output":2}');
  }
}

function shown({ unique_organization_id: _owner, rates, ...price }: ModelPrice) {
  return { ...price, rates: JSON.stringify(rates) };
}
