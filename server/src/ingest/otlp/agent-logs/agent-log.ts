import type { AttributeValue, Attributes } from "../export-request.ts";

/**
 * The log events of one command-line agent. Where they name a span they complete it; most name none, since the agents
 * export logs alone, and then each event becomes a span of its own.
 */
export type AgentLogs = {
  /** What event names begin with. Within `scope` they may come without. */
  prefix: string;
  scope: RegExp;
  /** The scope of the spans, by which conventions know whose attributes these are. */
  spanScope: string;
  /** Attributes that name the user's prompt, and the session: of a prompt the events make a trace, else of a session. */
  promptKeys: readonly string[];
  sessionKeys: readonly string[];
  /** Event name without the prefix → what it means. Other events are dropped. */
  events: Readonly<Record<string, AgentEvent>>;
};

export type AgentEvent = {
  /** What kind of span the event becomes; absent where it only completes one. */
  operation?: "invoke_agent" | "chat" | "execute_tool";
  /** Attribute of the GenAI conventions → the agent's own, the first that is there. */
  attributes?: Readonly<Record<string, readonly string[]>>;
  constants?: Readonly<Record<string, AttributeValue>>;
  /** Attributes that code finds. */
  expand?(attributes: Attributes): Record<string, AttributeValue>;
  /** Which of these events count; all unless stated. */
  only?(attributes: Attributes): boolean;
  /** Attribute that names the call of a model. Of several events of one call, that with an operation becomes the span. */
  callKey?: string;
  /** Whether the event tells of a failure, whatever its attributes say. */
  failed?: true;
};
