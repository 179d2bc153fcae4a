import { expect, test } from "vitest";
import { paramsFields } from "../../domain/product-families.ts";
import { fieldAliases, gatewayFields, wireFields } from "../../ingest/normalize/wire-fields.ts";
import { spanBody } from "./span-body.ts";

test("the API reference documents exactly the fields that a span body may contain", () => {
  const ofTheGateway: ReadonlySet<string> = new Set(gatewayFields);
  const own = [...wireFields.keys()].filter((name) => !Object.hasOwn(fieldAliases, name) && !ofTheGateway.has(name));
  expect(new Set(Object.keys(spanBody.shape))).toEqual(new Set([...own, paramsFields[0]]));
});
