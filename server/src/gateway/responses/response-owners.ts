import type { SpanOrigin } from "../../ingest/normalize/normalize.ts";
import { ExpiringLru } from "../../lib/expiring-lru.ts";
import { gatewayLimits } from "../limits.ts";

export type ResponseOwner = Pick<SpanOrigin, "organization_id" | "environment">;

/**
 * The owners of recently created responses. A key of the server serves all organizations, so response ids do not show
 * their owner.
 */
export type ResponseOwners = {
  note(id: string, owner: ResponseOwner): void;
  /** Undefined if this node does not know the owner. */
  isOwner(id: string, owner: ResponseOwner): boolean | undefined;
};

export function createResponseOwners(nowMs: () => number): ResponseOwners {
  const owners = new ExpiringLru<string, string>({
    maxEntries: gatewayLimits.responseOwners,
    ttlMs: gatewayLimits.responseOwnerMs,
    nowMs,
  });
  const nameOf = ({ organization_id, environment }: ResponseOwner): string => `${organization_id}\n${environment}`;
  return {
    note: (id, owner) => owners.set(id, nameOf(owner)),
    isOwner(id, owner) {
      const known = owners.get(id);
      return known === undefined ? undefined : known === nameOf(owner);
    },
  };
}
