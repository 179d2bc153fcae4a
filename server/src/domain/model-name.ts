/** The prefix of Bedrock inference profiles: the regions that serve them. */
export const bedrockGeo = /^(us|us-gov|eu|apac|jp|au|ca|in|global)\./;

const bedrockVendors =
  "anthropic|amazon|meta|mistral|cohere|ai21|deepseek|qwen|openai|moonshot|moonshotai|minimax|zai|nvidia|google|writer|xai";

/** The prefix of Bedrock model names: the vendor, optionally preceded by the regions of an inference profile. */
export const bedrockPrefix = new RegExp(`^(?:${bedrockGeo.source.slice(1)})?(?:${bedrockVendors})\\.`);

/**
 * Reduces the names that reports use for one model to one: requested or responded, with or without provider, region and
 * vendor, with or without date, Bedrock's version or an alias of the newest, with dots or dashes in its number.
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
