import { createHash, createHmac } from "node:crypto";
import { percentEncode } from "../../../lib/percent-encode.ts";

/** AWS Signature Version 4 in headers. Source: "Create a signed AWS API request" in the IAM user guide. */

export type SigningKey = { accessKeyId: string; secretAccessKey: string; sessionToken?: string };

export type SignedRequest = {
  method: string;
  /** With its path encoded as it is sent. */
  url: string;
  /** The headers to be signed, with lower-case names; the host is added. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
};

/** Returns the request's headers with the signature, without the host, which follows from the URL. */
export function signRequest(
  request: SignedRequest,
  key: SigningKey,
  scope: { region: string; service: string },
  nowMs: number,
): Record<string, string> {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, "");
  const day = time.slice(0, 8);
  const headers: Record<string, string> = {
    ...request.headers,
    "x-amz-date": time,
    ...(key.sessionToken === undefined ? {} : { "x-amz-security-token": key.sessionToken }),
  };
  const url = new URL(request.url);
  const signed = Object.entries({ ...headers, host: url.host }).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    request.method,
    canonicalPath(url.pathname),
    canonicalQuery(url.searchParams),
    ...signed.map(([name, value]) => `${name}:${value.trim().replace(/ +/g, " ")}`),
    "",
    names,
    sha256(request.body),
  ].join("\n");
  const credentialScope = `${day}/${scope.region}/${scope.service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", time, credentialScope, sha256(canonical)].join("\n");
  const signingKey = [day, scope.region, scope.service, "aws4_request"].reduce<string | Buffer>(
    hmac,
    `AWS4${key.secretAccessKey}`,
  );
  const signature = hmac(signingKey, toSign).toString("hex");
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${credentialScope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

/** Every service except S3 encodes the path once more than in the request. */
function canonicalPath(path: string): string {
  return path.split("/").map(percentEncode).join("/");
}

function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`);
  return pairs.sort().join("&");
}

function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac("sha256", key).update(data).digest();
}
