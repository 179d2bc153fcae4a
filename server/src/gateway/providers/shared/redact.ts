import type { Credential } from "../provider.ts";

const mask = "[redacted]";

/** Formats of keys and tokens of providers and clouds, including partly masked ones. */
const forms = new RegExp(
  [
    /\b(?:sk|pk|rk|csk|gsk|xai|key|pplx|nvapi|fc|tvly|org|proj)-[\w*-]{8,}/,
    /\b(?:sk|gsk|fw|hf|r8|ghp|gho|ghu|ghs|ghr|github_pat)_[\w*]{16,}/,
    /\bdapi[0-9a-f]{16,}/,
    /\b(?:AKIA|ASIA|ABSK)[A-Za-z0-9+/=*]{12,}/,
    /\bAIza[\w*-]{20,}/,
    /\bya29\.[\w.*-]+/,
    /\beyJ[\w-]{8,}\.[\w.-]+/,
    /\b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b/,
    /\b(?:Bearer|Basic)\s+[^\s"',;}]+/,
    /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

/** A member, header, query parameter or assignment with a name that marks its value as secret. */
const named =
  /((?:api|access|secret|subscription|session|security|auth|refresh|private)[ _-]?(?:key|token|secret)(?:[ _-]id)?|x-goog-api-key|authorization|password|(?<=[?&])(?:key|sig|token)|x-amz-(?:signature|credential|security-token))(\\?["']?\s*[:=]\s*\\?["']?)(?!\s|\[redacted\]|(?:Bearer|Basic)\b)([^\s"',;&}\\]{8,})/gi;

/** Shorter texts are not secrets: regions, versions, names. */
const shortestSecret = 8;
/** This many characters identify a secret that is quoted in part. */
const headChars = 12;

/** Returns the text without anything that looks like a key, and without the credential in use, whatever its format. */
export function redact(text: string, credential?: Credential): string {
  let redacted = text;
  for (const secret of secretsOf(credential)) redacted = redacted.replaceAll(secret, mask);
  return redacted
    .replace(forms, mask)
    .replace(named, (all, name: string, between: string, value: string) =>
      isSecretValue(value) ? `${name}${between}${mask}` : all,
    );
}

/** "api_key: required" and "access token: /path" contain no secret. */
function isSecretValue(value: string): boolean {
  return /\d/.test(value) || value.length >= 20;
}

/** Members of a credential that are not secret. */
const openFields = new Set(["region", "location", "project", "api_version", "account_id", "access_key_id"]);

/**
 * The secrets of the credential in the forms in which they may be quoted: plain, encoded for a URL or JSON, in base64,
 * or in part.
 */
function secretsOf(credential: Credential | undefined): string[] {
  if (credential === undefined) return [];
  const fields = Object.entries(credential.fields).flatMap(([name, value]) => (openFields.has(name) ? [] : [value]));
  const secrets = [credential.apiKey ?? "", ...fields].filter((secret) => secret.length >= shortestSecret);
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("base64"),
    ...(secret.length >= headChars * 2 ? [secret.slice(0, headChars), secret.slice(-headChars)] : []),
  ]);
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
}
