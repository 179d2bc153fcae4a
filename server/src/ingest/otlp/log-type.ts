import { productFamilies } from "../../domain/product-families.ts";
import { llmLogTypes } from "../../domain/span.ts";
import { asText } from "./attribute-bag.ts";
import type { SpanView } from "./convention.ts";
import { isResponsesCall } from "./responses-call.ts";

/** Facts that are known once the content was read. */
type Evidence = { hasMessages: boolean; isModelCall: boolean; model?: unknown };

/**
 * One key that determines the kind of a span. `types` maps its values, in lower case, to log types, or to a function if
 * it depends on the span. Unknown values are ignored.
 */
type Rule = {
  key: string;
  types: Readonly<Record<string, string | ((view: SpanView, evidence: Evidence) => string)>>;
};

const taskOrWorkflow = ({ isRoot }: SpanView): string => (isRoot ? "workflow" : "task");
const chatOrGeneration = (_view: SpanView, { hasMessages }: Evidence): string => (hasMessages ? "chat" : "generation");

const documented = Object.fromEntries(
  [
    "text",
    "chat",
    "completion",
    "response",
    "embedding",
    "transcription",
    "speech",
    "workflow",
    "task",
    "tool",
    "agent",
    "handoff",
    "guardrail",
    "function",
    "custom",
    "generation",
    "unknown",
    "score",
    "batch",
  ].map((type) => [type, type]),
);

/** Calls as LiteLLM names them; its `completion` is chat. */
const litellmCalls: Rule["types"] = {
  acompletion: "chat",
  anthropic_messages: "chat",
  aresponses: "response",
  atext_completion: "completion",
  aembedding: "embedding",
  atranscription: "transcription",
  aspeech: "speech",
  arerank: "task",
};

/** In order of authority: the first rule that has its value decides. */
const rules: readonly Rule[] = [
  ...productFamilies.map((family) => ({
    key: `${family}.entity.log_type`,
    types: { ...documented, trace: "workflow", step: "task", llm: "generation", model: "generation" },
  })),
  {
    key: "langfuse.observation.type",
    types: {
      generation: chatOrGeneration,
      chain: "task",
      retriever: "task",
      guardrail: "guardrail",
      embedding: "embedding",
      agent: "agent",
      tool: "tool",
      evaluator: "custom",
      event: "custom",
      span: taskOrWorkflow,
    },
  },
  {
    key: "openinference.span.kind",
    types: {
      llm: "chat",
      embedding: "embedding",
      agent: "agent",
      tool: "tool",
      chain: taskOrWorkflow,
      retriever: "task",
      reranker: "task",
      guardrail: "guardrail",
      evaluator: "custom",
      prompt: "task",
    },
  },
  // Before `gen_ai.operation.name`, because LangSmith's retrievers and prompts have a wrong operation.
  {
    key: "langsmith.span.kind",
    types: {
      llm: "chat",
      tool: "tool",
      chain: taskOrWorkflow,
      retriever: "task",
      embedding: "embedding",
      prompt: "task",
      parser: "task",
    },
  },
  {
    key: "gen_ai.operation.name",
    types: {
      chat: "chat",
      generate_content: "chat",
      generate: "chat",
      llm_call: "chat",
      call_llm: "chat",
      llm_request: "chat",
      responses: "response",
      text_completion: "completion",
      completion: "completion",
      model_request: "chat",
      ...litellmCalls,
      embedding: "embedding",
      embeddings: "embedding",
      execute_tool: "tool",
      tool_call: "tool",
      invoke_agent: "agent",
      create_agent: "agent",
      agent_call: "agent",
      agent: "agent",
      task: "task",
      framework: "task",
      vectordb: "task",
      memory: "task",
      user_prompt_processing: "task",
      tool_coordination: "task",
      agent_step: "task",
      model_step: "task",
      workflow_step: "task",
      schedule_tool_calls: "task",
      invoke_workflow: "workflow",
      invoke_swarm: "workflow",
      invoke_graph: "workflow",
      execute_event_loop_cycle: "task",
      execute_agent_loop_cycle: "task",
      execute_node: "task",
      retrieval: "task",
      vector_db_retrieve: "task",
      rerank: "task",
      execute_task: "task",
      plan: "task",
      search_memory: "task",
      create_memory: "task",
      update_memory: "task",
      upsert_memory: "task",
      delete_memory: "task",
      create_memory_store: "task",
      delete_memory_store: "task",
      conversation: taskOrWorkflow,
      speaker_selection: "task",
      await_human_input: "task",
      code_execution: "tool",
      handoff: "handoff",
      agent_handoff: "handoff",
      guardrail_check: "guardrail",
      speech_generation: "speech",
      response: "response",
      transcription: "transcription",
      speech_to_text: "transcription",
      speech: "speech",
      text_to_speech: "speech",
      guard: "guardrail",
      "guardrail.run": "guardrail",
    },
  },
  {
    key: "traceloop.span.kind",
    types: {
      workflow: "workflow",
      task: "task",
      agent: "agent",
      tool: "tool",
      session: "task",
      handoff: "handoff",
      guardrail: "guardrail",
    },
  },
  {
    key: "mastra.span.type",
    types: {
      agent_run: "agent",
      workflow_run: "workflow",
      workflow_step: "task",
      model_generation: "task",
      model_step: "task",
      model_inference: "chat",
      model_chunk: "task",
      llm_generation: "chat",
      tool_call: "tool",
      mcp_tool_call: "tool",
      processor_run: "task",
      generic: "task",
    },
  },
  {
    key: "genkit:metadata:subtype",
    types: {
      model: "chat",
      flow: taskOrWorkflow,
      tool: "tool",
      embedder: "embedding",
      retriever: "task",
      util: "task",
    },
  },
  {
    key: "lmnr.span.type",
    types: { llm: "chat", tool: "tool", executor: "task", evaluator: "custom", evaluation: "custom", default: "task" },
  },
  {
    key: "mlflow.spanType",
    types: {
      llm: "chat",
      chat_model: "chat",
      agent: "agent",
      tool: "tool",
      chain: taskOrWorkflow,
      embedding: "embedding",
      retriever: "task",
      reranker: "task",
      parser: "task",
      memory: "task",
      task: "task",
      workflow: "workflow",
      guardrail: "guardrail",
      evaluator: "custom",
    },
  },
  {
    key: "ai.operationId",
    types: {
      "ai.generatetext.dogenerate": "chat",
      "ai.streamtext.dostream": "chat",
      "ai.generateobject.dogenerate": "chat",
      "ai.streamobject.dostream": "chat",
      "ai.generatetext": taskOrWorkflow,
      "ai.streamtext": taskOrWorkflow,
      "ai.generateobject": taskOrWorkflow,
      "ai.streamobject": taskOrWorkflow,
      "ai.embed": "embedding",
      "ai.embedmany": "embedding",
      "ai.embed.doembed": "embedding",
      "ai.embedmany.doembed": "embedding",
      "ai.rerank": "task",
      "ai.rerank.dorerank": "task",
      "ai.toolcall": "tool",
    },
  },
  {
    key: "llm.request.type",
    types: {
      ...litellmCalls,
      chat: "chat",
      completion: ({ scopeName }) => (scopeName === "litellm" ? "chat" : "completion"),
      responses: "response",
      embedding: "embedding",
      rerank: "task",
    },
  },
];

const toolEvidence = ["gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.call.arguments", "ai.toolCall.name"];

/** Span names of frameworks that give no other sign of the kind of a span. */
const spanNames: ReadonlyArray<readonly [scope: RegExp, name: RegExp, type: string]> = [
  [/^livekit/, /^(?:llm_node|llm_request|llm_request_run)$/, "chat"],
  [/^livekit/, /^function_tool$/, "tool"],
  [/^livekit/, /^(?:agent_turn|agent_session)$/, "agent"],
  [/^livekit/, /^tts_/, "speech"],
  [/^com\.anthropic\.claude_code/, /^claude_code\.llm_request$/, "chat"],
  [/^com\.anthropic\.claude_code/, /^claude_code\.tool$/, "tool"],
  [/^com\.anthropic\.claude_code/, /^claude_code\.(?:tool\.|hook)/, "task"],
  [/^com\.anthropic\.claude_code/, /^claude_code\.interaction$/, "agent"],
  // The Claude API methods that call a model have an operation name.
  [/^com\.anthropic\.(?:sdk|claude-platform)/, /^anthropic\./, "task"],
  [/^codex/, /^session_task\.turn$/, "agent"],
  [/^codex/, /^handle_responses$/, "response"],
  [/^gcp\.vertex\.agent$/, /^call_llm$/, "chat"],
  [/^gcp\.vertex\.agent$/, /^execute_tool\b/, "tool"],
  [/^pydantic-ai/, /^(?:agent run|invoke_agent)\b/, "agent"],
  [/^logfire\.openai_agents/, /^Agent run/, "agent"],
  [/^logfire\.openai_agents/, /^Function/, "tool"],
  [/^logfire\.openai_agents/, /^Handoff/, "handoff"],
  [/^logfire\.openai_agents/, /^Guardrail/, "guardrail"],
  [/^gcp\.vertex\.agent$/, /^(?:agent_run|invoke_agent)\b/, "agent"],
];

/** Log types that become `response` for a call of the Responses API, whatever the SDK calls it. */
const modelCallKinds: ReadonlySet<string> = new Set(["chat", "generation", "completion"]);

const embeddingModel = /(?:^|[/._-])embed(?:ding)?s?(?:[/._-]|$)/i;
const embeddingName = /(?:^|[./\s_-])(?:create)?[_-]?embeddings?$/i;

/**
 * Determines the kind of a span. Reads the bag before conventions take from it; decisions that depend on evidence wait
 * for the content. Finally removes keys that only repeat the log type.
 */
export function decideLogType(view: SpanView): (evidence: Evidence) => string {
  const decide = decideByRules(view);
  const isResponses = isResponsesCall(view);
  return (evidence) => {
    const decided = decide(evidence);
    const logType = isResponses && modelCallKinds.has(decided) ? "response" : decided;
    for (const { key } of rules) {
      const value = view.bag.peekText(key)?.toLowerCase();
      if (value === logType || (value === decided && logType === "response")) view.bag.accept(key);
    }
    return logType;
  };
}

function decideByRules(view: SpanView): (evidence: Evidence) => string {
  const { bag, scopeName, span } = view;
  for (const { key, types } of rules) {
    const value = bag.peekText(key)?.toLowerCase();
    if (value === undefined || !Object.hasOwn(types, value)) continue;
    const type = types[value] ?? "task";
    // The bag is read now: by the time of the evidence, its keys are taken.
    const decided = typeof type === "string" || type === chatOrGeneration ? type : type(view, noEvidence);
    return (evidence) => (typeof decided === "string" ? decided : decided(view, evidence));
  }
  const named = spanNames.find(([scope, name]) => scope.test(scopeName) && name.test(span.name));
  if (!named && toolEvidence.some((key) => bag.has(key))) return () => "tool";
  const fallback = taskOrWorkflow(view);
  const isNamedSo = embeddingName.test(span.name) || bag.has("gen_ai.embeddings.dimension.count");
  return ({ isModelCall, model }) => {
    if (named) return named[2];
    if (!isModelCall) return fallback;
    return isNamedSo || embeddingModel.test(asText(model) ?? "") ? "embedding" : "chat";
  };
}

const noEvidence: Evidence = { hasMessages: false, isModelCall: false };

/** Whether a span of this type is a model call. */
export function isModelCall(logType: unknown): boolean {
  return (llmLogTypes as readonly unknown[]).includes(logType);
}
