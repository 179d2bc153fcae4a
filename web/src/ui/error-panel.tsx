import { Component, type ReactNode } from "react";
import { ApiError } from "../api/api-error.ts";
import { PageOutdatedError } from "../api/load-code.ts";
import { Button } from "./button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Icon } from "./icon.tsx";

/** The text of an error for people: what happened, and what may help. */
function wordsOf(error: unknown): { title: string; detail: string } {
  if (!(error instanceof ApiError)) {
    const isAway = error instanceof TypeError && /fetch|network|load failed/i.test(error.message);
    if (isAway) return { title: "The server does not respond", detail: "Is it running? You can try again." };
    if (error instanceof PageOutdatedError) return { title: "Spanway was updated", detail: error.message };
    return { title: "This could not be shown", detail: error instanceof Error ? error.message : String(error) };
  }
  const wait = error.retryAfterS === undefined ? "" : ` Try again in ${error.retryAfterS} s.`;
  const titles: Readonly<Record<number, string>> = {
    401: "You are signed out",
    403: "Your role does not permit this",
    404: "Not found",
    413: "This is too large",
    424: "The provider failed",
    429: "Too many requests",
    503: "The server is busy",
  };
  const title = titles[error.status] ?? (error.status >= 500 ? "The server failed" : "The request was refused");
  return { title, detail: `${error.message}${wait}` };
}

/** An error in place of the failed part, with the request id to find it in the server's log. */
export function ErrorPanel({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }): ReactNode {
  const { title, detail } = wordsOf(error);
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
