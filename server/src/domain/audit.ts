import type { Environment } from "./principal.ts";

/** Who acted: a person, an API key, or an operator at the command line. */
export const actorTypes = ["user", "key", "operator"] as const;
export type ActorType = (typeof actorTypes)[number];

/** One action of management that was done. Holds no secret. Times are ISO 8601, UTC. */
export type AuditEntry = {
  id: string;
  unique_organization_id: string;
  created_at: string;
  actor_type: ActorType;
  /** Of the user or key. */
  actor_id: string | null;
  /** The e-mail address or the key's name, as it was. */
  actor_name: string;
  /** The operation, as the API reference calls it; of operators the command. */
  action: string;
  /** The id of what was acted on. */
  target: string | null;
  environment: Environment | null;
  /** The members that were sent, with the values of those that are no secret; null of the others. */
  changes: Readonly<Record<string, unknown>>;
  ip: string | null;
  request_id: string | null;
};
