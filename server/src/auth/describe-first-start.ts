import type { FirstSecret, FirstStart } from "./first-start.ts";

/** What a person needs after the first start; secrets that the operator chose are not repeated. */
export function describeFirstStart(first: FirstStart): string {
  const show = ({ value, given }: FirstSecret): string => (given ? "(as configured)" : value);
  return [
    "",
    "  Spanway is set up. This is shown once:",
    "",
    `  organization    ${first.unique_organization_id}`,
    `  prod API key    ${show(first.keys.prod)}`,
    `  test API key    ${show(first.keys.test)}`,
    `  admin           ${first.admin_email}`,
    `  admin password  ${show(first.admin_password)}`,
    "",
  ].join("\n");
}
