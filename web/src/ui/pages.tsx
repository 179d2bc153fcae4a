import type { ReactNode } from "react";
import { IconButton } from "./button.tsx";

/** Buttons to page through a list; nothing if there is only one page. */
export function Pages({
  page,
  pages,
  onPage,
}: {
  page: number;
  pages: number;
  onPage: (page: number) => void;
}): ReactNode {
  if (pages <= 1) return null;
  return (
    <nav aria-label="Pages" className="flex items-center justify-end gap-1 border-t border-line px-2 py-1 text-muted">
      <IconButton
        size="sm"
        icon="chevronLeft"
        label="Previous page"
        disabled={page <= 1}
        onClick={() => onPage(page - 1)}
      />
      <span className="figures">
        {page} of {pages}
      </span>
      <IconButton
        size="sm"
        icon="chevronRight"
        label="Next page"
        disabled={page >= pages}
        onClick={() => onPage(page + 1)}
      />
    </nav>
  );
}
