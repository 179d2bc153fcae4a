import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { bodyOf } from "../../api/client.ts";
import { useApi, useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Input } from "../../ui/input.tsx";
import type { TraceHeader } from "./model/trace-model.ts";

/** Creates and removes the public page of a trace. */
export function ShareTrace({ header }: { header: TraceHeader }): ReactNode {
  const api = useApi();
  const queries = useQueryClient();
  const environment = useEnvironment();
  const [isOpen, setIsOpen] = useState(false);
  const key = ["sharing", header.trace_unique_id];
  const params = { path: { trace_unique_id: header.trace_unique_id } };
  const sharing = useApiQuery(
    key,
    (client, signal) => bodyOf(client.GET("/api/traces/{trace_unique_id}/sharing/", { params, signal })),
    { enabled: isOpen },
  );
  const isShared = sharing.data?.is_public;
  const share = useMutation({
    mutationFn: (isPublic: boolean) =>
      bodyOf(
        api.PATCH("/api/traces/{trace_unique_id}/", {
          params,
          body: { is_public: isPublic },
        }),
      ),
    onSuccess: (sharing) => {
      queries.setQueryData([environment, ...key], sharing);
      return queries.invalidateQueries({ queryKey: ["shared-trace"] });
    },
  });
  const address = publicAddress(header);
  return (
    <>
      <Button icon="share" onClick={() => setIsOpen(true)}>
        Share
      </Button>
      <Dialog
        open={isOpen}
        onOpenChange={setIsOpen}
        title="Share this trace"
        description="Everyone with the link can read the trace without signing in: its spans with their inputs and outputs, but no metadata, customer or key."
        footer={
          isShared === true ? (
            <Button isBusy={share.isPending} onClick={() => share.mutate(false)}>
              Stop sharing
            </Button>
          ) : (
            <Button
              variant="primary"
              disabled={isShared === undefined}
              isBusy={share.isPending}
              onClick={() => share.mutate(true)}
            >
              Create the link
            </Button>
          )
        }
      >
        {isShared === true && (
          <div className="flex items-center gap-2">
            <Input readOnly aria-label="Public link" value={address} onFocus={({ target }) => target.select()} />
            <CopyButton text={address} label="Copy the link" />
            <a href={address} target="_blank" rel="noreferrer" className="shrink-0 text-accent hover:underline">
              Open
            </a>
          </div>
        )}
        {isShared === false && (
          <p className="text-muted">
            {share.data === undefined
              ? "The trace is not shared. To share one again gives the same link."
              : "The trace is not shared: links to it show nothing any more."}
          </p>
        )}
        {sharing.error !== null && <ErrorPanel error={sharing.error} onRetry={() => void sharing.refetch()} />}
        {share.error !== null && <ErrorPanel error={share.error} />}
      </Dialog>
    </>
  );
}

function publicAddress({ unique_organization_id: organization, trace_unique_id: trace }: TraceHeader): string {
  return new URL(`/share/${encodeURIComponent(organization)}/${encodeURIComponent(trace)}`, location.origin).href;
}
