import { useState, type ReactNode } from "react";
import { isRecord } from "../../lib/exact-json.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Icon } from "../../ui/icon.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";

/** The tools that the model could call. */
export function OfferedTools({ tools }: { tools: readonly unknown[] }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  if (tools.length === 0) return null;
  return (
    <div className="relative min-w-0">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex min-w-0 items-center gap-1 text-xs text-muted hover:text-text"
      >
        <Icon name="tool" size={14} />
        <span className="truncate">
          {tools.length} {tools.length === 1 ? "tool" : "tools"}: {tools.slice(0, 6).map(toolName).join(", ")}
        </span>
        <Icon name={isOpen ? "chevronUp" : "chevronDown"} size={12} />
      </button>
      {isOpen && (
        <div className="absolute top-6 left-0 z-10 w-[min(32rem,80vw)] rounded-md border border-line bg-panel p-2 shadow-lg">
          <JsonTree value={tools} maxHeight={400} label="Tools that the model could call" />
        </div>
      )}
    </div>
  );
}

function toolName(tool: unknown): string {
  const inner = isRecord(tool) && isRecord(tool["function"]) ? tool["function"] : tool;
  const name = isRecord(inner) ? (inner["name"] ?? inner["type"]) : inner;
  return typeof name === "string" ? visibleLine(name).slice(0, 60) : "unnamed";
}
