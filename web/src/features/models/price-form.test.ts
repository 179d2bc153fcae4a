import { expect, test } from "vitest";
import { formOf, readForm } from "./price-form.ts";

const price = {
  model: "lab-1",
  provider: "my-lab",
  rates: { input: 0.5, input_audio: 3 },
  valid_from: "2026-01-31T12:30:45.678Z",
  valid_to: null,
};

test("saving an unedited price changes nothing, to the millisecond", () => {
  expect(readForm(formOf(price, "utc"), price, "utc")).toEqual({ fields: price, problems: {} });
});

test("an empty rate is unset, 0 is free, and an empty time is unlimited", () => {
  const form = { ...formOf(price, "utc"), rates: { input: " ", output: "0" }, valid_from: "" };
  expect(readForm(form, price, "utc").fields).toMatchObject({ rates: { output: 0 }, valid_from: null });
});

test("an invalid value is reported at its field", () => {
  const form = { ...formOf({}, "utc"), rates: { input: "free", output: "-1" } };
  expect(Object.keys(readForm(form, {}, "utc").problems)).toEqual(["model", "rates.input", "rates.output"]);
  expect(readForm(formOf({ model: "m" }, "utc"), {}, "utc").problems).toHaveProperty("rates");
});
