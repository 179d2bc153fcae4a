import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { EmptyState } from "../ui/empty-state.tsx";

export function NotFound(): ReactNode {
  return (
    <EmptyState
      title="There is no such page"
      action={
        <Link to="/" className="text-accent hover:underline">
          Go to the start
        </Link>
      }
    >
      The address may have been cut when it was copied.
    </EmptyState>
  );
}
