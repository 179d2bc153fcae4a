import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { MessageFormContext } from "../messages/message-form.ts";
import { MessageView } from "../messages/message-view.tsx";
import { readMessage } from "../messages/read-message.ts";
import { IconButton } from "../../ui/button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Input } from "../../ui/input.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { Cost, Count, Duration } from "../../ui/value.tsx";
import { isWithoutKey, MissingKey } from "./missing-key.tsx";
import { useRunFigures } from "./recorded-figures.ts";
import type { DraftModel } from "./draft.ts";
import type { Run } from "./use-runs.ts";

type AnswerProps = {
  model: DraftModel;
  label: string;
  run: Run | undefined;
  modelList: string;
  onName: (name: string) => void;
  onRemove: (() => void) | undefined;
};

/** A model and its answer. */
export function AnswerPanel({ model, label, run, modelList, onName, onRemove }: AnswerProps): ReactNode {
  return (
    <section aria-label={label} className="flex min-w-0 flex-col rounded-md border border-line bg-panel">
      <header className="flex items-center gap-1 border-b border-line p-2">
        <Input
          aria-label="Model"
          list={modelList}
          placeholder="gpt-4o-mini"
          className="font-mono text-sm"
          value={model.name}
          onChange={({ target }) => onName(target.value)}
        />
        {onRemove !== undefined && <IconButton icon="close" label="Remove model" onClick={onRemove} />}
      </header>
      <div className="min-h-24 flex-1">
        {run === undefined ? <p className="p-3 text-muted">The answer appears here.</p> : <RunView run={run} />}
      </div>
      {run !== undefined && <RunFigures run={run} />}
    </section>
  );
}

export function RunView({ run }: { run: Run }): ReactNode {
  const { state, answer, error } = run;
  const { choices } = answer;
  return (
    // Markdown is parsed once, when the text is complete.
    <MessageFormContext value={state === "running" ? "text" : "markdown"}>
      {choices.map((choice, at) => (
        <MessageView
          // Choices have no identity but their place.
          // oxlint-disable-next-line react/no-array-index-key
          key={at}
          message={readMessage(choice, at, "assistant")}
          note={choices.length > 1 ? `choice ${at + 1} of ${choices.length}` : undefined}
        />
      ))}
      {state === "failed" && (isWithoutKey(error) ? <MissingKey error={error} /> : <ErrorPanel error={error} />)}
    </MessageFormContext>
  );
}

export function RunFigures({ run }: { run: Run }): ReactNode {
  const { state, spanId } = run;
  const figures = useRunFigures(run);
  const why = state === "running" ? "The answer is not complete yet." : "The call ended without its figures.";
  return (
    <footer className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line px-3 py-1.5 text-xs text-muted">
      <span role="status" className="inline-flex items-center gap-1.5">
        {state === "running" && <Spinner size={12} />}
        {states[state]}
      </span>
      {figures !== undefined && (
        <>
          <span title="Cost">
            <Cost
              usd={figures.cost}
              why={state === "done" ? "No price is known for this model, or no usage was sent." : why}
            />
          </span>
          <span title="Time">
            <Duration seconds={figures.latency} why={why} />
          </span>
          <span>
            <Count value={figures.promptTokens} why={why} /> + <Count value={figures.completionTokens} why={why} />{" "}
            tokens
          </span>
        </>
      )}
      {spanId !== undefined && state !== "running" && (
        <Link to="/spans/$spanId" params={{ spanId }} className="ml-auto text-accent hover:underline">
          Open span
        </Link>
      )}
    </footer>
  );
}

const states: Record<Run["state"], string> = {
  running: "Streaming",
  done: "Done",
  stopped: "Stopped",
  failed: "Failed",
};
