import type { ReactNode } from "react";
import { useEnvironment } from "../../api/use-api.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Button } from "../../ui/button.tsx";
import { Popover } from "../../ui/popover.tsx";
import { snippetOf, type Language } from "./snippet.ts";

const languages: readonly (readonly [Language, string])[] = [
  ["curl", "curl"],
  ["python", "Python"],
  ["node", "Node"],
];

/** The call of the first model as code. */
export function CopyCall({ body, disabled }: { body: Record<string, unknown>; disabled: boolean }): ReactNode {
  const environment = useEnvironment();
  const trigger = (
    <Button icon="copy" disabled={disabled}>
      <span className="max-sm:sr-only">Copy as code</span>
    </Button>
  );
  return (
    <Popover trigger={trigger} label="The call as code" align="end" className="w-[34rem]">
      <div className="flex flex-col gap-2">
        {languages.map(([language, name]) => {
          const code = snippetOf(language, { origin: location.origin, environment, body });
          return (
            <section key={language} aria-label={name}>
              <header className="flex items-center justify-between text-sm font-medium">
                {name}
                <CopyButton text={code} label={`Copy ${name}`} />
              </header>
              <pre tabIndex={0} className="max-h-40 overflow-auto rounded-md border border-line bg-raised p-2 text-xs">
                {code.slice(0, 20_000)}
              </pre>
            </section>
          );
        })}
      </div>
    </Popover>
  );
}
