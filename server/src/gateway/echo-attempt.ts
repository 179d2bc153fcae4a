import type { AttemptEnd, AttemptRun } from "./attempt.ts";
import { echo, echoChunks } from "./providers/echo/echo.ts";
import { createTranslatedSource, type StreamSink } from "./stream-source.ts";

/** An attempt that needs no upstream. */
export function runEcho(run: AttemptRun): AttemptEnd {
  const { ask, attempt } = run;
  const facts = run.facts();
  if (attempt.target.model !== "echo") {
    const message = `There is no model spanway/${attempt.target.model}; the built-in one is spanway/echo.`;
    return { kind: "problem", problem: { kind: "request", status: 404, message, param: "model" }, hasContent: false };
  }
  const chat = { ...ask.body.forProvider, model: facts.model, messages: ask.messages };
  if (!ask.isStream) return { kind: "reply", bytes: undefined, completion: { ...echo(chat, facts) } };
  const sink: StreamSink = {
    onEvents: (events, hasContent) => run.onEvents(events, hasContent),
    onDone: () => undefined,
    onProblem: () => undefined,
  };
  const step = { chunks: echoChunks(chat, facts), isDone: true };
  const translator = { push: () => step, end: () => step };
  createTranslatedSource(translator, {
    digest: run.newDigest(),
    sink,
    wantsUsage: ask.wantsUsage,
    mapUsage: run.mapUsage,
  }).end();
  return { kind: "streamed" };
}
