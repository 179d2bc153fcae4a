import { productFamilies } from "../../../domain/product-families.ts";
import type { Convention } from "../convention.ts";
import { consumeParameters } from "../read-parameters.ts";

const inEveryFamily = (...names: readonly string[]): string[] =>
  productFamilies.flatMap((family) => names.map((name) => `${family}.${name}`));

/** The product's own keys, as its SDKs and its documentation write them, under each of its names. */
export const own: Convention = {
  name: "own",
  applies: ({ bag }) => bag.hasFamily(...productFamilies),
  fields: {
    log_method: inEveryFamily("entity.log_method"),
    customer_identifier: inEveryFamily(
      "customer_params.customer_identifier",
      "customer.identifier",
      "customer_identifier",
    ),
    customer_email: inEveryFamily("customer_params.email", "customer_params.customer_email", "customer.email"),
    customer_name: inEveryFamily("customer_params.name", "customer_params.customer_name", "customer.name"),
    customer_params: inEveryFamily("customer_params"),
    thread_identifier: inEveryFamily("threads.thread_identifier", "thread.id", "thread_identifier"),
    session_identifier: inEveryFamily("sessions.session_identifier", "session.id"),
    trace_group_identifier: inEveryFamily(
      "trace.trace_group_identifier",
      "trace_group.group_identifier",
      "trace_group.id",
    ),
    gateway_log_id: inEveryFamily("gateway.log_id", "gateway_log_id"),
    custom_identifier: inEveryFamily("span_params.custom_identifier", "custom_identifier"),
    evaluation_identifier: inEveryFamily("evaluation_params.evaluation_identifier"),
    properties: inEveryFamily("properties"),
    span_tools: inEveryFamily("span.tools"),
    span_handoffs: inEveryFamily("span.handoffs"),
    tool_calls: inEveryFamily("span.tool_calls"),
  },
  // The parameters of a request to Anthropic, which are sent in the user's metadata.
  derive: ({ bag }) =>
    Object.assign(
      {},
      ...inEveryFamily("metadata.anthropic.request").map((key) => consumeParameters(bag, key)),
    ) as Record<string, unknown>,
  // Bare names that only have these meanings in the product's own SDKs.
  usage: { cacheRead: ["prompt_cache_hit_tokens"], cacheWrite: ["prompt_cache_creation_tokens"] },
  metadataObjects: inEveryFamily("metadata"),
  metadataPrefixes: inEveryFamily("metadata."),
  metadataIsJson: true,
};
