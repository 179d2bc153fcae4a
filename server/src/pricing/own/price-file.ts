import { ServiceError } from "../../domain/errors.ts";
import type { PriceFileFormat } from "../../domain/model-price.ts";
import { isObject } from "../../lib/json.ts";
import { pricingLimits } from "../limits.ts";
import { readGenAiFile } from "../genai-table.ts";
import type { PriceTable } from "../price-entry.ts";
import { readLiteLlmFile } from "./litellm-table.ts";

export type PriceFile = { format: PriceFileFormat; models: number; table: PriceTable };

/**
 * Reads a price file of genai-prices (`prices/data.json`) or of LiteLLM (`model_prices_and_context_window.json`).
 * @param name the table's name in receipts
 * @throws ServiceError `invalid_request`
 */
export function readPriceFile(text: string, name: string): PriceFile {
  const content = parse(text);
  const format = formatOf(content);
  const { table, models } = format === "litellm" ? readLiteLlmFile(name, content) : readGenAiFile(name, content);
  if (models < pricingLimits.priceFileModels) {
    throw bad(`has prices of ${models} models; fewer than ${pricingLimits.priceFileModels} are taken for another file`);
  }
  return { format, models, table };
}

function parse(text: string): unknown {
  if (text.length > pricingLimits.priceFileBytes) throw bad(`is larger than ${pricingLimits.priceFileBytes} bytes`);
  try {
    return JSON.parse(text);
  } catch {
    throw bad("is no JSON");
  }
}

function formatOf(content: unknown): PriceFileFormat {
  if (Array.isArray(content) || (isObject(content) && Array.isArray(content["providers"]))) return "genai-prices";
  const isLiteLlm =
    isObject(content) && Object.values(content).some((one) => isObject(one) && "litellm_provider" in one);
  if (isLiteLlm) return "litellm";
  throw bad("is neither a price file of genai-prices nor one of LiteLLM");
}

function bad(what: string): ServiceError {
  return new ServiceError("invalid_request", `The price file ${what}.`);
}
