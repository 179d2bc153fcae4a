import { useNavigate } from "@tanstack/react-router";
import { useId, type ReactNode } from "react";
import { bodyOf } from "../../api/client.ts";
import { useApiQuery } from "../../api/use-api.ts";
import { identityOf, useMe, type Me } from "../../api/use-me.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { useKeys } from "../../ui/keys.ts";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { useWholeSpan } from "../spans/span-queries.ts";
import { AnswerPanel } from "./answer-panel.tsx";
import { CopyCall } from "./copy-call.tsx";
import { blankDraft, nextId, readDraft, type Draft } from "./draft.ts";
import { draftOfSpan } from "./from-span.ts";
import { MessageEditor } from "./message-editor.tsx";
import { ParametersPanel } from "./parameters-panel.tsx";
import { useDraft } from "./use-draft.ts";
import { useRuns } from "./use-runs.ts";

/** Starts empty, or with the call of a span. */
export function PlaygroundPage({ span }: { span: string | undefined }): ReactNode {
  const me = useMe();
  if (me.data === undefined) return <SkeletonRows />;
  if (span === undefined) return <Playground me={me.data} initial={undefined} />;
  return <FromSpan key={span} id={span} me={me.data} />;
}

function FromSpan({ id, me }: { id: string; me: Me }): ReactNode {
  const span = useWholeSpan(id);
  if (span.data !== undefined) return <Playground me={me} initial={draftOfSpan(id, span.data)} />;
  return span.error === null ? <SkeletonRows /> : <ErrorPanel error={span.error} onRetry={() => void span.refetch()} />;
}

const maxModels = 6;

function Playground({ me, initial }: { me: Me; initial: Draft | undefined }): ReactNode {
  const [draft, setDraft] = useDraft(identityOf(me), initial);
  const { runs, send, stop, isRunning } = useRuns();
  const { body, problems } = readDraft(draft);
  const modelList = useId();
  const change = (more: Partial<Draft>) => setDraft((before) => ({ ...before, ...more }));
  const { models } = draft;
  const isAllowed = me.permissions.includes("gateway:call");
  const hasProblems = Object.keys(problems).length > 0 || models.some(({ name }) => name.trim() === "");
  const canSend = isAllowed && !hasProblems && !isRunning;
  const run = () => canSend && send(models, body);
  useKeys([{ keys: "mod+Enter", label: "Send", inFields: true, run }]);
  return (
    <div className="flex flex-col gap-3 p-3 md:p-4">
      <h1 className="sr-only">Playground</h1>
      <div className="flex flex-wrap items-center gap-2">
        <StartAgain initial={initial} onDraft={setDraft} />
        <span className="ml-auto" />
        <CopyCall body={{ model: models[0]?.name ?? "", ...body }} disabled={hasProblems} />
        <Button
          icon="plus"
          disabled={models.length >= maxModels || isRunning}
          onClick={() => change({ models: [...models, { id: nextId(models), name: models.at(-1)?.name ?? "" }] })}
        >
          Add model
        </Button>
        {isRunning ? (
          <Button icon="close" onClick={stop}>
            Stop
          </Button>
        ) : (
          <Button variant="primary" icon="send" disabled={!canSend} onClick={run} title="Ctrl Enter">
            Send
          </Button>
        )}
      </div>
      {!isAllowed && (
        <p role="note" className="rounded-md border border-warn/40 bg-warn-soft px-3 py-2">
          Your role may not call models: it lacks the permission <code>gateway:call</code>, as calls cost money. An
          administrator can give you another role.
        </p>
      )}
      <div className="grid grid-cols-1 items-start gap-3 lg:grid-cols-[minmax(20rem,2fr)_3fr]">
        <div className="flex min-w-0 flex-col gap-3">
          <MessageEditor messages={draft.messages} problems={problems} onChange={(messages) => change({ messages })} />
          <ParametersPanel draft={draft} problems={problems} onChange={change} />
        </div>
        <div className="grid min-w-0 grid-cols-[repeat(auto-fit,minmax(min(100%,18rem),1fr))] gap-3">
          {models.map((model, at) => (
            <AnswerPanel
              key={model.id}
              model={model}
              label={`Model ${at + 1}`}
              run={runs[model.id]}
              modelList={modelList}
              onName={(name) => change({ models: models.map((each) => (each === model ? { ...each, name } : each)) })}
              onRemove={
                models.length === 1 || isRunning
                  ? undefined
                  : () => change({ models: models.filter((each) => each !== model) })
              }
            />
          ))}
        </div>
      </div>
      <ModelList id={modelList} />
    </div>
  );
}

type AgainProps = { initial: Draft | undefined; onDraft: (draft: Draft) => void };

function StartAgain({ initial, onDraft }: AgainProps): ReactNode {
  const navigate = useNavigate();
  const clear = () => {
    onDraft(blankDraft());
    if (initial !== undefined) void navigate({ to: "/playground", search: ({ env }) => ({ env }) });
  };
  return (
    <>
      <Button icon="trash" title="Clear" onClick={clear}>
        <span className="max-sm:sr-only">Clear</span>
      </Button>
      {initial !== undefined && (
        <Button icon="refresh" title="As in the span" onClick={() => onDraft(initial)}>
          <span className="max-sm:sr-only">As in the span</span>
        </Button>
      )}
    </>
  );
}

/** Suggestions while a model is typed. */
function ModelList({ id }: { id: string }): ReactNode {
  const models = useApiQuery(["models", "callable"], (api, signal) => bodyOf(api.GET("/api/models", { signal })));
  if (models.error !== null) return <ErrorPanel error={models.error} onRetry={() => void models.refetch()} />;
  return (
    <datalist id={id}>
      {models.data?.data.map((model) => (
        <option key={model.id} value={model.id} />
      ))}
    </datalist>
  );
}
