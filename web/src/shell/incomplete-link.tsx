import type { ReactNode } from "react";
import { EmptyState } from "../ui/empty-state.tsx";

export function IncompleteLink(): ReactNode {
  return (
    <main className="pt-[16vh]">
      <EmptyState title="This link is incomplete">
        A part of the address was lost when it was copied. Ask the person who sent it to you for the whole link.
      </EmptyState>
    </main>
  );
}
