import { expect, test } from "vitest";
import { keyFields, memberFields } from "./members.ts";
import type { KnownProvider, Setting } from "./queries.ts";
import { changeOf, formOf, newSettingOf, problemsOf } from "./setting-form.ts";

const stored: Setting = {
  id: "5b4a3c1e-0000-4000-8000-000000000000",
  provider: "my-lab",
  name: "Lab",
  environment: null,
  base_url: "https://lab.example.com/v1",
  api_version: null,
  region: null,
  access_key_id: null,
  available_models: ["lab-1"],
  exclude_models: [],
  weight: 2,
  is_enabled: true,
  has_secret: true,
  is_readable: true,
  secret_tail: "6789",
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
};
const start = { provider: "my-lab", environment: "prod" } as const;
const fields = memberFields(undefined);
const bedrock: KnownProvider = {
  provider: "bedrock",
  is_built_in: true,
  base_url: null,
  credential_source: null,
  server_variable: "BEDROCK_API_KEY",
  is_key_optional: false,
  credential_members: ["api_key", "base_url", "access_key_id", "secret_access_key", "session_token", "region"],
};

test("saving an unedited setting sends nothing, especially not its key", () => {
  expect(changeOf(formOf(stored, start), fields, stored)).toEqual({});
});

test("only edited fields are sent; an emptied member is removed, an emptied list means all models", () => {
  const form = {
    ...formOf(stored, start),
    available: " ",
    weight: "3",
    members: { base_url: "", api_key: " sk-new " },
  };
  expect(changeOf(form, fields, stored)).toEqual({
    available_models: null,
    weight: 3,
    base_url: null,
    api_key: "sk-new",
  });
  expect(changeOf({ ...formOf(stored, start), environment: "prod", name: "" }, fields, stored)).toEqual({
    environment: "prod",
  });
});

test("a new setting has the typed values and leaves the others to the server", () => {
  const form = { ...formOf(undefined, start), available: "lab-1\n\n lab-2 ,lab-3", members: { api_key: "sk-1" } };
  expect(newSettingOf(form, fields)).toEqual({
    provider: "my-lab",
    environment: "prod",
    weight: 1,
    available_models: ["lab-1", "lab-2", "lab-3"],
    api_key: "sk-1",
  });
});

test("values typed for another provider are not sent", () => {
  const form = { ...formOf(undefined, start), members: { region: "us-east-1", api_key: "sk-1" } };
  expect(newSettingOf(form, fields)).not.toHaveProperty("region");
  expect(newSettingOf({ ...form, provider: "bedrock" }, memberFields(bedrock))).toMatchObject({ region: "us-east-1" });
});

test("an AWS key has three parts, separate from Bedrock's own key", () => {
  expect(keyFields(bedrock).map(({ name }) => name)).toEqual([
    "api_key",
    "access_key_id",
    "secret_access_key",
    "session_token",
  ]);
  expect(keyFields(undefined).map(({ name }) => name)).toEqual(["api_key"]);
});

test("a missing name and an invalid weight are reported at their fields", () => {
  expect(Object.keys(problemsOf({ ...formOf(undefined, start), provider: " ", weight: "0" }))).toEqual([
    "provider",
    "weight",
  ]);
  expect(problemsOf(formOf(stored, start))).toEqual({});
});
