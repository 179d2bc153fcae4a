import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { bodyOf } from "../../api/client.ts";
import { useApi } from "../../api/use-api.ts";
import { formatInteger } from "../../lib/format.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Field, Input } from "../../ui/input.tsx";
import { useToast } from "../../ui/toast.tsx";
import type { TraceHeader } from "./model/trace-model.ts";
import { truncateLine } from "./parts/untrusted.tsx";

/** How many characters of the id have to be typed as confirmation. */
const typedChars = 8;

/** Deletes a whole trace after its id was typed. */
export function DeleteTrace({ header, onDeleted }: { header: TraceHeader; onDeleted: () => void }): ReactNode {
  const api = useApi();
  const queries = useQueryClient();
  const toast = useToast();
  const [isOpen, setIsOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const { trace_unique_id: id } = header;
  const wanted = id.slice(0, typedChars);
  const remove = useMutation({
    mutationFn: () =>
      bodyOf(
        api.DELETE("/api/traces/{trace_unique_id}/", {
          params: { path: { trace_unique_id: id }, query: wholeWindow(header) },
        }),
      ),
    onSuccess: async ({ message }) => {
      toast.done("Trace deleted", message);
      queries.removeQueries({ predicate: ({ queryKey }) => queryKey[1] === "traces" && queryKey[2] === id });
      await queries.invalidateQueries();
      onDeleted();
    },
  });
  const isTyped = typed.trim() === wanted.trim();
  const change = (open: boolean) => {
    setIsOpen(open);
    setTyped("");
    remove.reset();
  };
  return (
    <>
      <IconButton icon="trash" label="Delete this trace" onClick={() => change(true)} />
      <Dialog
        open={isOpen}
        onOpenChange={change}
        size="sm"
        title="Delete this trace"
        description={`All of its ${formatInteger(header.span_count)} spans are deleted immediately, for everybody. This cannot be undone.`}
        footer={
          <>
            <Button onClick={() => change(false)}>Cancel</Button>
            <Button variant="danger" disabled={!isTyped} isBusy={remove.isPending} onClick={() => remove.mutate()}>
              Delete trace
            </Button>
          </>
        }
      >
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (isTyped && !remove.isPending) remove.mutate();
          }}
        >
          <Field label={`Type ${truncateLine(wanted)} to confirm`}>
            {(control) => (
              <Input {...control} className="figures" value={typed} onChange={({ target }) => setTyped(target.value)} />
            )}
          </Field>
        </form>
        {remove.error !== null && <ErrorPanel error={remove.error} />}
      </Dialog>
    </>
  );
}

/** From before the first start to the last end: a deletion covers spans that ended within its window. */
function wholeWindow({ start_time, timestamp }: TraceHeader): { start_time: string; end_time: string } {
  const startMs = Math.min(Date.parse(start_time), Date.parse(timestamp)) - 1000;
  const endMs = Math.max(Date.parse(timestamp), Date.now()) + 1000;
  return { start_time: new Date(startMs).toISOString(), end_time: new Date(endMs).toISOString() };
}
