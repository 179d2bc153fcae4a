import { customerNumbers, customerTexts, customerTimes } from "../domain/customer.ts";
import type { SpanRow } from "../domain/span.ts";
import type { Catalogue } from "./catalogue.ts";
import { createGroupCatalogue, type GroupCatalogue } from "./group-fields.ts";

/** The fields of customers: those of their rows, and every field of spans. */
export function createCustomerCatalogue(spans: Catalogue<SpanRow>): GroupCatalogue {
  const parts = {
    keys: ["customer_identifier", "environment"],
    figures: [
      ...customerTexts.map((name) => [name, "text"] as const),
      ...customerTimes.map((name) => [name, "time"] as const),
      ...customerNumbers.map((name) => [name, "number"] as const),
    ],
    aliases: [
      ["id", "customer_identifier"],
      ["customer_email", "email"],
      ["customer_name", "name"],
      ["total_requests", "number_of_requests"],
      ["tokens", "total_tokens"],
      ["cost", "total_cost"],
      ["last_active_timeframe", "last_active"],
    ] as const,
  };
  return createGroupCatalogue(parts, spans);
}
