/** A tenant: the owner of spans, users and keys, isolated from every other. */
export type Organization = {
  id: number;
  /** The public id, used in share URLs and in every query. */
  unique_organization_id: string;
  name: string;
  /** Days its spans are kept; null follows the instance, 0 keeps them forever. */
  retention_days: number | null;
  /** ISO 8601, UTC. */
  created_at: string;
  /** Whether test calls use the provider keys of prod if test has none. */
  test_uses_prod_providers: boolean;
  /** Since when an operator has blocked its writes; ISO 8601, UTC. */
  blocked_at: string | null;
};

/** Days the organization's spans are kept, null: forever. @param instanceDays the value of SPANWAY_RETENTION_DAYS */
export function effectiveRetentionDays(
  organization: Pick<Organization, "retention_days">,
  instanceDays: number,
): number | null {
  const days = organization.retention_days ?? instanceDays;
  return days === 0 ? null : days;
}
