import type { ReactNode } from "react";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Icon } from "../../ui/icon.tsx";

/** A secret that the server shows only once. */
export function SecretOnce({ label, secret }: { label: string; secret: string }): ReactNode {
  return (
    <div className="flex flex-col gap-2">
      <p className="flex items-center gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm">
        <Icon name="alert" className="text-warn" />
        It is shown only once. Copy it before you close this.
      </p>
      <div className="flex items-center gap-1 rounded-md border border-line-strong bg-raised py-1 pr-1 pl-2">
        <code aria-label={label} className="min-w-0 flex-1 text-sm break-all select-all">
          {secret}
        </code>
        <CopyButton text={secret} label={`Copy ${label}`} />
      </div>
    </div>
  );
}
