import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError } from "../../api/api-error.ts";
import { Icon } from "../../ui/icon.tsx";

/** Whether a call could not be sent because no key for its model is stored. */
export function isWithoutKey(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === "no_credential";
}

export function MissingKey({ error }: { error: ApiError }): ReactNode {
  return (
    <div role="alert" className="m-3 flex items-start gap-2.5 rounded-md border border-warn/40 bg-warn-soft px-3 py-2">
      <Icon name="alert" className="mt-0.5 text-warn" />
      <div className="min-w-0 flex-1 break-words">
        <p className="font-medium">No key for this model</p>
        <p className="text-sm text-muted">{error.message}</p>
      </div>
      <Link to="/providers" search={{}} className="text-accent hover:underline">
        Providers
      </Link>
    </div>
  );
}
