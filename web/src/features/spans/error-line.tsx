import type { ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";

/** The error of an edit, shown beside the input. */
export function ErrorLine({ error }: { error: Error | null }): ReactNode {
  if (error === null) return null;
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <p role="alert" className="text-xs text-error">
      {error.message}
      {requestId !== undefined && <span className="text-faint"> (request {requestId})</span>}
    </p>
  );
}
