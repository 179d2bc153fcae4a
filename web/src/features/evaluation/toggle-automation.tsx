import type { ReactNode } from "react";
import { visibleLine } from "../../lib/visible-text.ts";
import { Button } from "../../ui/button.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useSaveAutomation, type Automation } from "./automation-queries.ts";

/** Turns an automation on or off from the list. */
export function ToggleAutomation({ automation }: { automation: Automation }): ReactNode {
  const say = useToast();
  const save = useSaveAutomation();
  const { id, name, is_enabled: isEnabled } = automation;
  const word = isEnabled ? "Turn off" : "Turn on";
  return (
    <Button
      size="sm"
      variant="ghost"
      icon={isEnabled ? "pause" : "play"}
      isBusy={save.isPending}
      aria-label={`${word} ${visibleLine(name)}`}
      onClick={() =>
        save.mutate(
          { id, body: { is_enabled: !isEnabled } },
          { onError: (error) => say.failed("The automation was not changed", error) },
        )
      }
    >
      {word}
    </Button>
  );
}
