import type { Environment } from "./principal.ts";

/** Who acted: a person, an API key, or an operator at the command line. */
export const actorTypes = ["user", "key", "operator"] as const;
export type ActorType = (typeof actorTypes)[number];

/** One management action that was performed. Contains no secret. Times are ISO 8601, UTC. */
export type AuditEntry = {
  id: string;
  unique_organization_id: string;
  created_at: string;
  actor_type: ActorType;
  /** The id of the user or key. */
  actor_id: string | null;
  /** The e-mail address or the key's name at that time. */
  actor_name: string;
  /** The operation, as the API reference names it; for operators the command. */
  action: string;
  /** The id of the object that was changed. */
  target: string | null;
  environment: Environment | null;
  /** The members that were sent; values of secret ones are null. */
  changes: Readonly<Record<string, unknown>>;
  ip: string | null;
  request_id: string | null;
};
