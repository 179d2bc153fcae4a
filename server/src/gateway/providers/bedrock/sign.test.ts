import { expect, test } from "vitest";
import { signRequest } from "./sign.ts";

/** AWS's published examples: from the IAM user guide, and from its test suite. */

const key = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const nowMs = Date.parse("2015-08-30T12:36:00Z");
const signatureOf = (headers: Record<string, string>) => /Signature=(\w+)$/.exec(headers["authorization"] ?? "")?.[1];

test("a request with a query", () => {
  const url = "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08";
  const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  const request = { method: "GET", url, headers, body: Buffer.alloc(0) };
  expect(signRequest(request, key, { region: "us-east-1", service: "iam" }, nowMs)).toEqual({
    ...headers,
    "x-amz-date": "20150830T123600Z",
    authorization:
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, " +
      "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
  });
});

test.each([
  ["GET", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
  ["POST", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
])("a plain %s", (method, signature) => {
  const request = { method, url: "https://example.amazonaws.com/", headers: {}, body: Buffer.alloc(0) };
  const headers = signRequest(request, key, { region: "us-east-1", service: "service" }, nowMs);
  expect(signatureOf(headers)).toBe(signature);
});

test("a session token is sent and signed", () => {
  const request = { method: "POST", url: "https://example.amazonaws.com/", headers: {}, body: Buffer.from("{}") };
  const scope = { region: "us-east-1", service: "bedrock" };
  const headers = signRequest(request, { ...key, sessionToken: "token" }, scope, nowMs);
  expect(headers["x-amz-security-token"]).toBe("token");
  expect(headers["authorization"]).toContain("SignedHeaders=host;x-amz-date;x-amz-security-token,");
  expect(headers).not.toHaveProperty("host");
});
