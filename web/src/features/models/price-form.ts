import { fromInput, toInput, type TimeZone } from "../../lib/time.ts";
import type { OwnPrice } from "./own-price.ts";
import { mainBuckets } from "./rates.ts";

/** The price form's values, as typed. */
export type PriceForm = {
  model: string;
  provider: string;
  /** By bucket; empty for no rate. */
  rates: Readonly<Record<string, string>>;
  valid_from: string;
  valid_to: string;
};

export type PriceFields = Pick<OwnPrice, "model" | "provider" | "rates" | "valid_from" | "valid_to">;

const times = ["valid_from", "valid_to"] as const;

export function formOf(price: Partial<PriceFields>, zone: TimeZone): PriceForm {
  const { model = "", provider = "", rates = {}, valid_from, valid_to } = price;
  const typed = Object.entries(rates).map(([bucket, rate]) => [bucket, String(rate)]);
  return {
    model,
    provider,
    rates: { ...Object.fromEntries(mainBuckets.map((bucket) => [bucket, ""])), ...Object.fromEntries(typed) },
    valid_from: toInput(valid_from ?? "", zone),
    valid_to: toInput(valid_to ?? "", zone),
  };
}

/** The form as a request body, and errors by field. `base` holds the values that the form was loaded with. */
export function readForm(
  form: PriceForm,
  base: Partial<PriceFields>,
  zone: TimeZone,
): { fields: PriceFields; problems: Record<string, string> } {
  const problems: Record<string, string> = {};
  if (form.model.trim() === "") problems["model"] = "The name of a model, or a pattern such as lab-*.";
  const rates: Record<string, number> = {};
  for (const [bucket, typed] of Object.entries(form.rates)) {
    if (typed.trim() === "") continue;
    const rate = Number(typed);
    if (Number.isFinite(rate) && rate >= 0) rates[bucket] = rate;
    else problems[`rates.${bucket}`] = "A number, 0 or more; empty for none.";
  }
  const hasRate = Object.values(form.rates).some((typed) => typed.trim() !== "");
  if (!hasRate) problems["rates"] = "State at least one rate. 0 is free.";
  // The input shows minutes only: an unedited time keeps its seconds.
  const before = formOf(base, zone);
  const [valid_from = null, valid_to = null] = times.map((name) =>
    form[name] === before[name] ? (base[name] ?? null) : (fromInput(form[name], zone) ?? null),
  );
  return {
    fields: { model: form.model.trim(), provider: form.provider.trim(), rates, valid_from, valid_to },
    problems,
  };
}
