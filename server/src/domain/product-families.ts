/**
 * The names under which clients know this product's own parameters: `svc` is canonical, the others are legacy names
 * that are accepted and merged. Everything that contains a product name derives from this list.
 */
export const productFamilies = ["svc", "respan", "keywordsai"] as const;

/** Legacy names, shown only to clients that request them. */
export const legacyFamilies = productFamilies.filter((family) => family !== "svc");

/** The product names in webhook signatures. */
export const signingFamilies = ["spanway", "svc"] as const;

/** Body members that hold service parameters: `svc_params`, `respan_params`, `keywordsai_params`. */
export const paramsFields = productFamilies.map((family) => `${family}_params`);

/** Request headers that hold them, as a JSON object in base64: `x-data-svc-params` and its legacy names. */
export const paramsHeaders = productFamilies.map((family) => `x-data-${family}-params`);

/** `x-svc-route-provider` and its legacy names: pins the provider of a gateway call. */
export const routeProviderHeaders = productFamilies.map((family) => `x-${family}-route-provider`);

/** `x-svc-log-id` and its legacy names: the span that records a gateway call. */
export const logIdHeaders = productFamilies.map((family) => `x-${family}-log-id`);

/** `x-svc-beta` and its legacy names: comma-separated flags. */
export const betaHeaders = productFamilies.map((family) => `x-${family}-beta`);
