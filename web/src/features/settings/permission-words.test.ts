import { expect, test } from "vitest";
import { defaultKeyPermissions, permissionsOfRole } from "../../../../server/src/domain/permissions.ts";
import { permissionWords } from "./permission-words.ts";

test("a key with all permissions of its creator has the label of that preset", () => {
  for (const role of ["admin", "member"] as const) {
    expect(permissionWords(defaultKeyPermissions(permissionsOfRole(role)))).toBe("Everything but people and keys");
  }
});

test("other permissions are listed by verb, and presets by their label", () => {
  expect(permissionWords(["gateway:call"])).toBe("Call models only");
  expect(permissionWords(["analytics:read", "spans:read"])).toBe("Read spans and figures only");
  expect(permissionWords(["customers:read", "customers:write", "alerts:read"])).toBe(
    "read customers, alerts; change customers",
  );
});
