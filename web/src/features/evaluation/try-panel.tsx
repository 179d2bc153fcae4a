import { useState, type ReactNode } from "react";
import { formatTime } from "../../lib/time.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Field, Input } from "../../ui/input.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Select } from "../../ui/select.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { useTimeZone } from "../../ui/value.tsx";
import type { Draft, Evaluator } from "./draft.ts";
import { useLogInputs, useNewestLogs, useRunEvaluator } from "./queries.ts";
import { RunScore } from "./run-score.tsx";

type TryProps = {
  draft: Draft;
  /** Undefined if the form has unsaved changes. */
  saved: Evaluator | undefined;
  canWrite: boolean;
  onStore: () => Promise<Evaluator | undefined>;
};

/** Runs the evaluator on a log. The server runs the stored evaluator, so the form is saved first. */
export function TryPanel({ draft, saved, canWrite, onStore }: TryProps): ReactNode {
  const [chosen, setChosen] = useState("");
  const newest = useNewestLogs();
  const [first] = newest.data?.results ?? [];
  const logId = chosen.trim() || (first?.unique_id ?? "");
  const inputs = useLogInputs(logId);
  const run = useRunEvaluator();
  if (draft.kind === "human") {
    return (
      <Panel title="Try it on a log">
        <EmptyState icon="score" title="People score for this evaluator">
          Open a log and add a score there. Nothing runs by itself.
        </EmptyState>
      </Panel>
    );
  }
  if (!canWrite) return null;
  const given = inputs.data;
  const start = async () => {
    if (given === undefined) return;
    const evaluator = saved ?? (await onStore());
    if (evaluator !== undefined) run.mutate({ id: evaluator.id, inputs: given });
  };
  return (
    <Panel title="Try it on a log">
      <div className="flex flex-col gap-3 p-3">
        <LogChoice logs={newest.data?.results ?? []} logId={logId} onChoose={setChosen} />
        {newest.error !== null && <ErrorPanel error={newest.error} onRetry={() => void newest.refetch()} />}
        {newest.isSuccess && logId === "" && <p className="text-muted">There is no log yet. Enter the id of one.</p>}
        {inputs.error !== null && <ErrorPanel error={inputs.error} onRetry={() => void inputs.refetch()} />}
        {logId !== "" && inputs.isPending && <SkeletonRows rows={3} />}
        {given !== undefined && (
          <>
            <OutputText label="Input" text={given.input} />
            <OutputText label="Output" text={given.output} />
            {given.expected_output !== "" && <OutputText label="Expected output" text={given.expected_output} />}
          </>
        )}
        <div className="flex flex-wrap items-center gap-2">
          <Button icon="play" disabled={given === undefined} isBusy={run.isPending} onClick={() => void start()}>
            {saved === undefined ? "Save and try" : "Try"}
          </Button>
          <span className="text-xs text-faint">The log gets no score.</span>
        </div>
        {run.error !== null && <ErrorPanel error={run.error} />}
        {run.data !== undefined && !run.isPending && <RunScore result={run.data} />}
      </div>
    </Panel>
  );
}

type Log = Readonly<Record<string, unknown>>;

function LogChoice({
  logs,
  logId,
  onChoose,
}: {
  logs: readonly Log[];
  logId: string;
  onChoose: (id: string) => void;
}): ReactNode {
  const zone = useTimeZone();
  const known = logs.map((log) => {
    const names = [log["span_name"], log["model"], log["log_type"]].filter((each) => typeof each === "string");
    const name = names.find((each) => each !== "") ?? "span";
    return {
      value: String(log["unique_id"]),
      label: `${formatTime(String(log["timestamp"]), zone)} · ${visibleLine(name)}`,
    };
  });
  const isListed = known.some(({ value }) => value === logId);
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Field label="Log">
        {(control) => (
          <Select
            {...control}
            value={isListed ? logId : ""}
            options={isListed ? known : [{ value: "", label: "Another log" }, ...known]}
            onValueChange={onChoose}
          />
        )}
      </Field>
      <Field label="Its id">
        {(control) => (
          <Input {...control} className="figures" value={logId} onChange={({ target }) => onChoose(target.value)} />
        )}
      </Field>
    </div>
  );
}

const shownChars = 4000;

function OutputText({ label, text }: { label: string; text: string }): ReactNode {
  return (
    <div>
      <h3 className="text-sm font-medium text-muted">{label}</h3>
      {/* Scrollable, so it must be focusable by keyboard. */}
      <pre
        tabIndex={0}
        aria-label={label}
        role="region"
        className="max-h-40 overflow-auto rounded-md bg-raised px-2 py-1 text-sm [overflow-wrap:anywhere] whitespace-pre-wrap"
      >
        {text === "" ? "(empty)" : text.slice(0, shownChars)}
        {text.length > shownChars && " …"}
      </pre>
    </div>
  );
}
