import { Dialog } from "@base-ui/react/dialog";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import { visibleLine } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";
import { cx } from "../ui/cx.ts";
import { Spinner } from "../ui/spinner.tsx";
import { chooseTheme } from "../ui/theme.ts";
import { rankOptions, type PaletteAction, type PaletteOption } from "./rank-options.ts";
import { screens } from "./screens.ts";
import { useFoundById } from "./use-found-by-id.ts";

const themes: readonly PaletteAction[] = [
  { label: "Light theme", icon: "sun", run: () => chooseTheme("light") },
  { label: "Dark theme", icon: "moon", run: () => chooseTheme("dark") },
  { label: "System theme", icon: "system", run: () => chooseTheme("system") },
];

/** Navigates to every screen, finds a pasted id, and switches the theme. */
export function Palette({ onClose }: { onClose: () => void }): ReactNode {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const navigate = useNavigate();
  const found = useFoundById(text);
  const places = screens.map<PaletteOption>(({ label, to, icon }) => ({ label, icon, link: { to } }));
  const options = [...found.options, ...rankOptions<PaletteOption | PaletteAction>([...places, ...themes], text)];
  const go = (option: PaletteOption | PaletteAction | undefined): void => {
    if (option === undefined) return;
    onClose();
    if ("run" in option) option.run();
    else void navigate(option.link);
  };
  useScrolledIntoView(`palette-${chosen}`);
  const move = (step: number): void => setChosen((chosen + step + options.length) % Math.max(options.length, 1));
  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-50 bg-backdrop" />
        <Dialog.Popup
          aria-label="Go to a screen, or find an id"
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-24px)] max-w-[560px] -translate-x-1/2 overflow-hidden rounded-lg border border-line-strong bg-panel outline-none"
        >
          <div className="flex items-center gap-2 border-b border-line px-3">
            <Icon name="search" className="text-faint" />
            <input
              role="combobox"
              aria-label="Screen or id"
              aria-expanded
              aria-controls="palette-options"
              aria-activedescendant={options.length === 0 ? undefined : `palette-${chosen}`}
              autoFocus
              autoComplete="off"
              spellCheck={false}
              placeholder="Go to a screen, or paste an id"
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                setChosen(0);
              }}
              onKeyDown={(event) => {
                if (event.key === "ArrowDown") move(1);
                else if (event.key === "ArrowUp") move(-1);
                else if (event.key === "Enter") go(options[chosen]);
                else return;
                event.preventDefault();
              }}
              className="h-11 min-w-0 flex-1 bg-transparent text-lg outline-none placeholder:text-faint"
            />
            {found.isSearching && <Spinner />}
          </div>
          <Options options={options} chosen={chosen} onChoose={setChosen} onGo={go} />
          {options.length === 0 && !found.isSearching && (
            <p className="px-4 pb-4 text-sm text-muted">
              No screen has this name, and no span, trace, thread or customer of this environment has this id.
            </p>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Options({
  options,
  chosen,
  onChoose,
  onGo,
}: {
  options: readonly (PaletteOption | PaletteAction)[];
  chosen: number;
  onChoose: (at: number) => void;
  onGo: (option: PaletteOption | PaletteAction) => void;
}): ReactNode {
  return (
    <ul id="palette-options" role="listbox" aria-label="Found" className="max-h-[50vh] overflow-auto p-1.5">
      {options.map((option, at) => (
        // The keys are those of the text field, which keeps the focus.
        // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
        <li
          key={`${option.label} ${option.detail ?? ""}`}
          id={`palette-${at}`}
          role="option"
          aria-selected={at === chosen}
          onPointerMove={() => onChoose(at)}
          onClick={() => onGo(option)}
          className={cx("flex h-8 cursor-default items-center gap-2.5 rounded-md px-2", at === chosen && "bg-raised")}
        >
          <Icon name={option.icon} className="text-faint" />
          <span className="whitespace-nowrap">{option.label}</span>
          <span className="figures min-w-0 flex-1 truncate text-right text-faint">
            {option.detail && visibleLine(option.detail)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function useScrolledIntoView(id: string): void {
  useEffect(() => {
    document.getElementById(id)?.scrollIntoView({ block: "nearest" });
  }, [id]);
}
