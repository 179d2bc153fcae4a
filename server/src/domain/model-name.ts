/** How Bedrock begins the name of an inference profile: the regions that serve it. */
export const bedrockGeo = /^(us|us-gov|eu|apac|jp|au|ca|in|global)\./;

const bedrockVendors =
  "anthropic|amazon|meta|mistral|cohere|ai21|deepseek|qwen|openai|moonshot|moonshotai|minimax|zai|nvidia|google|writer|xai";

/** How Bedrock begins the name of a model: its vendor, and before it the regions of an inference profile. */
export const bedrockPrefix = new RegExp(`^(?:${bedrockGeo.source.slice(1)})?(?:${bedrockVendors})\\.`);

/**
 * One name for all that reports call a model: as it was asked for or as it answered, with its provider, region and vendor or
 * without, with its date, Bedrock's version or an alias of the newest or without, with dots in its number or dashes.
 */
export function bareModelName(model: string): string {
  const given = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  const name = given.replace(bedrockPrefix, "");
  const version = name === given ? /-v\d+:\d+(?::\d+k)?$/ : /-v\d+(?::\d+(?::\d+k)?)?$/;
  return name
    .replace(version, "")
    .replace(/[-@](?:20\d\d-?\d\d-?\d\d|latest|default)$/, "")
    .replaceAll(".", "-");
}
