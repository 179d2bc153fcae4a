import type { ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { errorWords } from "../../ui/error-words.ts";

/** The error of an edit, shown beside the input; `onRetry` is for what was not the user's doing. */
export function ErrorLine({ error, onRetry }: { error: Error | null; onRetry?: () => void }): ReactNode {
  if (error === null) return null;
  const { title, detail } = errorWords(error);
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <p role="alert" className="text-xs text-error">
      {title}: {detail}
      {requestId !== undefined && <span className="text-faint"> (request {requestId})</span>}
      {onRetry !== undefined && (
        <button type="button" className="ml-1 underline" onClick={onRetry}>
          Retry
        </button>
      )}
    </p>
  );
}
