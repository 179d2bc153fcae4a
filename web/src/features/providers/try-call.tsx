import { useId, useState, type FormEvent, type ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Input, TextArea } from "../../ui/input.tsx";
import { RunFigures, RunView } from "../playground/answer-panel.tsx";
import { useRuns } from "../playground/use-runs.ts";
import { useModelsOf } from "./queries.ts";

/** One short chat with a model of the provider, through the gateway: shows whether the credential works. */
export function TryCall({ provider, onClose }: { provider: string; onClose: () => void }): ReactNode {
  const models = useModelsOf(provider);
  const [typed, setTyped] = useState<string>();
  const [message, setMessage] = useState("Say hello in one short sentence.");
  const { runs, send, stop, isRunning } = useRuns();
  const listId = useId();
  const names = models.data ?? [];
  // A single model is preselected.
  const model = typed ?? (names.length === 1 ? names[0] : "") ?? "";
  const run = runs[0];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const messages = [{ role: "user", content: message }];
    // A fallback or a retry would hide the error.
    send([{ id: 0, name: `${provider}/${model.trim()}` }], { messages, disable_fallback: true, retries: 0 });
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Try one call of ${provider}`}
      description="It is recorded as a span, and costs what the model costs."
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          {isRunning ? (
            <Button icon="close" onClick={stop}>
              Stop
            </Button>
          ) : (
            <Button type="submit" form="try-call" variant="primary" icon="send">
              Send
            </Button>
          )}
        </>
      }
    >
      <form id="try-call" className="flex flex-col gap-3" onSubmit={submit}>
        <Field label="Model" hint={hintOf(models.isPending, names.length)}>
          {(control) => (
            <Input
              {...control}
              required
              autoFocus
              list={listId}
              className="font-mono text-sm"
              value={model}
              onChange={({ target }) => setTyped(target.value)}
            />
          )}
        </Field>
        <datalist id={listId}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Field label="Message">
          {(control) => (
            <TextArea
              {...control}
              required
              rows={2}
              value={message}
              onChange={({ target }) => setMessage(target.value)}
            />
          )}
        </Field>
      </form>
      {run !== undefined && (
        <section aria-label="Answer" className="mt-3 overflow-hidden rounded-md border border-line">
          <RunView run={run} />
          <RunFigures run={run} />
        </section>
      )}
    </Dialog>
  );
}

function hintOf(isPending: boolean, count: number): string {
  if (isPending) return "Its models are being listed.";
  return count === 0 ? "The catalogue has no list: type its name." : "Choose one, or type another name that it has.";
}
