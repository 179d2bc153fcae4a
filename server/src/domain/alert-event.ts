import type { AlertDefinition, AlertEventType, AlertGroup, AlertGroupStatus, AlertState } from "./alert.ts";
import type { Environment } from "./principal.ts";

/** The event that channels receive. Times are ISO 8601, UTC. */
export type AlertEvent = Pick<AlertDefinition, "metric" | "window" | "operator" | "threshold" | "change_percentage"> &
  Pick<AlertGroupStatus, "value" | "previous_value" | "number_of_requests" | "since"> & {
    type: AlertEventType;
    /** `url`: its page; null if the public address of the server is not known. */
    alert: { id: string; name: string; url: string | null };
    unique_organization_id: string;
    environment: Environment;
    state: AlertState;
    previous_state: AlertState;
    group: AlertGroup;
    /** Set if the group is one customer's. */
    customer_identifier?: string;
    window_start: string;
    window_end: string;
    /**
     * The list of the spans of the group and window; without a host if the public address of the server is not known.
     */
    spans_url: string | null;
    is_test: boolean;
  };
