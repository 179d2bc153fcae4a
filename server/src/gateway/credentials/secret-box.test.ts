import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Secret } from "../../lib/secret.ts";
import { createSecretBox } from "./secret-box.ts";

const box = createSecretBox(new Secret("a secret of the instance"));
const place = { unique_organization_id: "org_a", id: "1", provider: "openai", base_url: null };
const secrets = { api_key: "sk-0123456789" };

test("a sealed value opens in its place, whatever it contains", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string({ unit: "binary" })), fc.string(), (values, id) => {
      const sealed = box.seal(values, { ...place, id });
      expect(box.open(sealed, { ...place, id })).toEqual({ ...values });
    }),
  );
});

test("a ciphertext reveals nothing of the secret, and differs each time", () => {
  const [first, second] = [box.seal(secrets, place), box.seal(secrets, place)];
  expect(first).not.toBe(second);
  expect(Buffer.from(first.split(".").at(-1) ?? "", "base64url").toString("latin1")).not.toContain("sk-");
});

describe("it does not open elsewhere", () => {
  test.each([
    ["for another organization", { ...place, unique_organization_id: "org_b" }],
    ["in another setting", { ...place, id: "2" }],
    ["for another provider", { ...place, provider: "groq" }],
    ["at another host", { ...place, base_url: "https://attacker.example" }],
    ["with its parts shifted", { ...place, unique_organization_id: 'org_a","1', id: "openai" }],
  ])("%s", (_where, elsewhere) => {
    expect(box.open(box.seal(secrets, place), elsewhere)).toBeUndefined();
  });

  test("nor with another secret of the instance", () => {
    const other = createSecretBox(new Secret("another secret of the instance"));
    expect(other.open(box.seal(secrets, place), place)).toBeUndefined();
  });

  test("nor after it was changed or shortened", () => {
    const sealed = box.seal(secrets, place);
    const bytes = Buffer.from(sealed.split(".")[2] ?? "", "base64url");
    const prefix = sealed.slice(0, sealed.lastIndexOf(".") + 1);
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(box.open(prefix + changed.toString("base64url"), place)).toBeUndefined();
      expect(box.open(prefix + bytes.subarray(0, at).toString("base64url"), place)).toBeUndefined();
    }
    expect(box.open("", place)).toBeUndefined();
    expect(box.open("junk", place)).toBeUndefined();
  });
});
