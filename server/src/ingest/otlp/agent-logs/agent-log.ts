import type { AttributeValue, Attributes } from "../export-request.ts";

/**
 * The log events of one command-line agent. Events that name a span complete it; most do not, since the agents only
 * export logs, and each of these becomes a span of its own.
 */
export type AgentLogs = {
  /** The prefix of event names. It may be missing within `scope`. */
  prefix: string;
  scope: RegExp;
  /** The scope of the spans, by which conventions recognize the attributes. */
  spanScope: string;
  /**
   * Attributes with the id of the user's prompt, and of the session: the events of a prompt form a trace, otherwise
   * those of a session.
   */
  promptKeys: readonly string[];
  sessionKeys: readonly string[];
  /** Event name without the prefix → its meaning. Other events are dropped. */
  events: Readonly<Record<string, AgentEvent>>;
};

export type AgentEvent = {
  /** The kind of span that the event becomes; absent if it only completes one. */
  operation?: "invoke_agent" | "chat" | "execute_tool";
  /** Attribute of the GenAI conventions → the agent's own attributes; the first one present counts. */
  attributes?: Readonly<Record<string, readonly string[]>>;
  constants?: Readonly<Record<string, AttributeValue>>;
  /** Attributes computed by code. */
  expand?(attributes: Attributes): Record<string, AttributeValue>;
  /** Which of these events count; defaults to all. */
  only?(attributes: Attributes): boolean;
  /**
   * Attribute with the id of the model call. Of several events of one call, the one with an operation becomes the span.
   */
  callKey?: string;
  /** Whether the event is a failure, whatever its attributes say. */
  failed?: true;
};
