/** A tenant: the owner of spans, users and keys, isolated from every other. */
export type Organization = {
  id: number;
  /** The public id, which stands in share URLs and scopes every query. */
  unique_organization_id: string;
  name: string;
  /** Days its spans are kept; null follows the instance, 0 keeps them for ever. */
  retention_days: number | null;
  /** ISO 8601, UTC. */
  created_at: string;
  /** Whether its test calls use the provider keys of prod where test has none. */
  test_uses_prod_providers: boolean;
  /** Since when it may not write, by an operator's word; ISO 8601, UTC. */
  blocked_at: string | null;
};

/** Days the organisation's spans are kept, null for ever. @param instanceDays what SPANWAY_RETENTION_DAYS says. */
export function effectiveRetentionDays(
  organization: Pick<Organization, "retention_days">,
  instanceDays: number,
): number | null {
  const days = organization.retention_days ?? instanceDays;
  return days === 0 ? null : days;
}
