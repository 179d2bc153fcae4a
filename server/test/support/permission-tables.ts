import { permissions, permissionTable } from "../../src/domain/permissions.ts";
import type { AnyEndpoint } from "../../src/http/endpoint.ts";

/** The tables of docs/permissions.md, generated from the code. */

export function tableOfPermissions(): string {
  const rows = permissions.map((name) => {
    const { allows, roles, includes = [], isForPeople } = permissionTable[name];
    return [
      `\`${name}\``,
      allows,
      includes.map((each) => `\`${each}\``).join(", "),
      roles.join(", "),
      isForPeople ? "no" : "yes",
    ];
  });
  return table(["Permission", "Allows to", "Includes", "Roles that have it", "For keys"], rows);
}

export function tableOfRoutes(endpoints: readonly AnyEndpoint[]): string {
  const rows = endpoints.map(({ method, path, auth, permission, parameters, environment }) => [
    `\`${method} ${path}\``,
    callers[auth],
    permission === undefined ? "" : `\`${permission}\``,
    parameters.map((each) => `${each.parameter}: \`${each.permission}\``).join("; "),
    environment === "own" ? "own" : "",
  ]);
  return table(["Route", "Caller", "Permission", "Parameters that take another", "Environment"], rows);
}

const callers = { none: "anybody", key: "key", user: "person", key_or_user: "key, person" } as const;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The page with regenerated tables. */
export function withTables(page: string, endpoints: readonly AnyEndpoint[]): string {
  const tables = { permissions: tableOfPermissions(), routes: tableOfRoutes(endpoints) };
  return Object.entries(tables).reduce(
    (text, [name, rows]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\\n)[^]*?(<!-- /${name} -->)`),
        (_all, start: string, end: string) => `${start}\n${rows}\n\n${end}`,
      ),
    page,
  );
}
