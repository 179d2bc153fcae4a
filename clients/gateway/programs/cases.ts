import { key, serverUrl } from "../../support/environment.ts";

/** The base URL and the key for SDKs. */
export const gateway = { apiKey: key, baseURL: `${serverUrl}/api` };
export const [, , model = "gpt-4o-mini"] = process.argv;
export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
export const pixelUrl = `data:image/png;base64,${pixel}`;

export const personSchema = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" } },
  required: ["name", "age"],
  additionalProperties: false,
} as const;

export const citySchema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;

export function temperatureIn(city: string): { tempC: number } {
  return { tempC: city === "Paris" ? 18 : 24 };
}

/** Service parameters of a case: one half for the header, one for the body. */
export function headersOf(params: Record<string, unknown>): Record<string, string> {
  return { "X-Data-Svc-Params": Buffer.from(JSON.stringify(params)).toString("base64") };
}
export const whose = headersOf({ customer_identifier: "customer-1" });
export function tagsOf(name: string) {
  return { thread_identifier: "thread-1", metadata: { case: name } };
}

/** If an SDK cannot send extra members in the body, all of them go in the header. */
export function allInHeader(name: string, more: Record<string, unknown> = {}): Record<string, string> {
  return headersOf({ customer_identifier: "customer-1", ...tagsOf(name), ...more });
}

/** Runs one case, and prints its result as a line of JSON: `{case, …}` or `{case, threw}`. */
export async function attempt(name: string, run: () => Promise<object>): Promise<void> {
  let result: object;
  try {
    result = await run();
  } catch (error) {
    result = { threw: describe(error) };
  }
  process.stdout.write(`${JSON.stringify({ case: name, ...result })}\n`);
}

function describe(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const { status, statusCode, code } = error as { status?: number; statusCode?: number; code?: string };
  return { name: error.constructor.name, status: status ?? statusCode, message: error.message, code };
}

/** The members of a breakdown that are the same in each run. */
export function figuresOf(breakdown: unknown): object {
  const { prompt_tokens, completion_tokens, cost, cached, stream, status_code, metadata } = breakdown as Record<
    string,
    unknown
  >;
  const costMicroUsd = typeof cost === "number" ? Number((cost * 1e6).toFixed(4)) : cost;
  return { prompt_tokens, completion_tokens, costMicroUsd, cached, stream, status_code, metadata };
}
