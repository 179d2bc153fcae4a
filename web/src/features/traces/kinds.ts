import type { IconName } from "../../ui/icon.tsx";

type KindStyle = { icon: IconName; color: string };

const styles: Readonly<Record<string, KindStyle>> = {
  chat: { icon: "message", color: "--kind-chat" },
  completion: { icon: "message", color: "--kind-chat" },
  text: { icon: "message", color: "--kind-chat" },
  generation: { icon: "message", color: "--kind-chat" },
  response: { icon: "message", color: "--kind-response" },
  embedding: { icon: "hash", color: "--kind-embedding" },
  reranker: { icon: "sort", color: "--kind-embedding" },
  speech: { icon: "play", color: "--kind-speech" },
  transcription: { icon: "note", color: "--kind-transcription" },
  workflow: { icon: "branch", color: "--kind-workflow" },
  agent: { icon: "spark", color: "--kind-agent" },
  task: { icon: "layers", color: "--kind-task" },
  tool: { icon: "tool", color: "--kind-tool" },
  function: { icon: "code", color: "--kind-tool" },
  handoff: { icon: "arrowRight", color: "--kind-handoff" },
  guardrail: { icon: "lock", color: "--kind-guardrail" },
  score: { icon: "score", color: "--kind-score" },
};

const otherStyle: KindStyle = { icon: "circle", color: "--kind-custom" };

/** The icon and the colour token of a kind of span. */
export function kindStyle(kind: string): KindStyle {
  return Object.hasOwn(styles, kind) ? (styles[kind] ?? otherStyle) : otherStyle;
}

export function kindColor(kind: string): string {
  return `var(${kindStyle(kind).color})`;
}
