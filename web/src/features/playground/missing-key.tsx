import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Icon } from "../../ui/icon.tsx";

/** The provider that a call could not be sent to because no key of it is stored; undefined for any other failure. */
export function providerWithoutKey(error: unknown): string | undefined {
  return error instanceof Error ? /^There is no credential for (\S+),/.exec(error.message)?.[1] : undefined;
}

export function MissingKey({ provider }: { provider: string }): ReactNode {
  return (
    <div role="alert" className="m-3 flex items-center gap-2.5 rounded-md border border-warn/40 bg-warn-soft px-3 py-2">
      <Icon name="alert" className="text-warn" />
      <p className="min-w-0 flex-1 font-medium break-words">No key for {provider}</p>
      <Link to="/providers" search={{}} className="text-accent hover:underline">
        Add key
      </Link>
    </div>
  );
}
