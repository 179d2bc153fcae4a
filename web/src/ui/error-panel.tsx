import { Component, type ReactNode } from "react";
import { ApiError } from "../api/api-error.ts";
import { PageOutdatedError } from "../api/load-code.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { errorWords } from "./error-words.ts";
import { Icon } from "./icon.tsx";

/** An error in place of the failed part, with the request id to find it in the server's log. */
export function ErrorPanel({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }): ReactNode {
  const { title, detail } = errorWords(error);
  const isGone = error instanceof ApiError && error.status === 404;
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div
      role="alert"
      className="m-3 flex items-start gap-2.5 rounded-md border border-error/40 bg-error-soft px-3 py-2"
    >
      <Icon name="alert" className="mt-0.5 text-error" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{title}</p>
        <p className="text-sm break-words text-muted">{detail}</p>
        {requestId !== undefined && (
          <p className="mt-0.5 flex items-center gap-1 text-xs text-muted">
            Request <span className="figures truncate">{requestId}</span>
            <CopyButton text={requestId} label="Copy request id" />
          </p>
        )}
      </div>
      {error instanceof PageOutdatedError ? (
        <Button size="sm" icon="refresh" onClick={() => location.reload()}>
          Load the page again
        </Button>
      ) : (
        onRetry !== undefined &&
        !isGone && (
          <Button size="sm" icon="refresh" onClick={onRetry}>
            Retry
          </Button>
        )
      )}
    </div>
  );
}

type BoundaryState = { error: unknown };

/** Catches render errors so that only the panel fails. */
export class PanelBoundary extends Component<{ children: ReactNode }, BoundaryState> {
  override state: BoundaryState = { error: undefined };

  static getDerivedStateFromError(error: unknown): BoundaryState {
    return { error: error ?? new Error("An unknown error occurred.") };
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children;
    return <ErrorPanel error={this.state.error} onRetry={() => this.setState({ error: undefined })} />;
  }
}
