import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError } from "../../api/api-error.ts";
import type { Api } from "../../api/client.ts";
import { useSessionWatch } from "../../api/session-watch.ts";
import { useApi } from "../../api/use-api.ts";
import { noAnswer, withChunk, type Answer } from "./answer.ts";
import type { DraftModel } from "./draft.ts";
import { readEvents } from "./read-stream.ts";

/** One call of one model. */
export type Run = {
  state: "running" | "done" | "stopped" | "failed";
  answer: Answer;
  /** The span of the call, once the gateway has returned its id. */
  spanId: string | undefined;
  error: unknown;
};

type Runs = Readonly<Record<number, Run>>;

/** Calls all models in parallel. Calls are aborted when a new run starts or the page closes. */
export function useRuns() {
  const api = useApi();
  const watch = useSessionWatch();
  const [runs, setRuns] = useState<Runs>({});
  const control = useRef<AbortController>(undefined);
  const stop = useCallback(() => control.current?.abort(), []);
  useEffect(() => stop, [stop]);

  const send = (models: readonly DraftModel[], body: Readonly<Record<string, unknown>>): void => {
    stop();
    const mine = new AbortController();
    control.current = mine;
    const started: Run = { state: "running", answer: noAnswer, spanId: undefined, error: undefined };
    setRuns(Object.fromEntries(models.map(({ id }) => [id, started])));
    for (const { id, name } of models) {
      const change = (more: Partial<Run>): void => {
        // A run that has been replaced updates nothing.
        if (control.current === mine) setRuns((runs) => ({ ...runs, [id]: { ...(runs[id] ?? started), ...more } }));
      };
      callModel(api, { ...body, model: name }, mine.signal, change).then(
        ({ failure }) =>
          change(failure === undefined ? { state: "done" } : { state: "failed", error: new Error(failure) }),
        (error: unknown) => {
          if (mine.signal.aborted) return change({ state: "stopped" });
          if (error instanceof ApiError && error.status === 401) watch.end();
          return change({ state: "failed", error, ...(error instanceof ApiError && { spanId: error.spanId }) });
        },
      );
    }
  };
  const isRunning = Object.values(runs).some(({ state }) => state === "running");
  return { runs, send, stop, isRunning };
}

async function callModel(
  api: Api,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  change: (more: Partial<Run>) => void,
): Promise<Answer> {
  const request = { ...body, stream: true, stream_options: { include_usage: true }, request_breakdown: true };
  const { data, response } = await api.POST("/api/chat/completions", {
    // Not validated here: the gateway reports errors in the input.
    body: request as never,
    signal,
    parseAs: "stream",
  });
  change({ spanId: response.headers.get("x-spanway-log-id") ?? undefined });
  let answer = noAnswer;
  if (data === null || data === undefined) return answer;
  for await (const chunks of readEvents(data)) {
    answer = chunks.reduce<Answer>(withChunk, answer);
    change({ answer });
  }
  return answer;
}
