import type { ReactNode } from "react";
import { formatCost, formatDuration, formatInteger } from "../../../lib/format.ts";
import { indentedJson } from "../../../lib/indented-json.ts";
import { formatExactTime, type TimeZone } from "../../../lib/time.ts";
import { visibleText } from "../../../lib/visible-text.ts";
import { IconButton } from "../../../ui/button.tsx";
import { at } from "../model/at.ts";
import { oddities } from "../model/describe-span.ts";
import type { TraceModel } from "../model/trace-model.ts";
import { hasFlag, kindOf, labelOf, textOf } from "../model/trace-spans.ts";
import { Figure } from "./figures.tsx";
import { KindMark } from "./kind-mark.tsx";
import { Untrusted } from "./untrusted.tsx";

type SharedSpanProps = { model: TraceModel; index: number; zone: TimeZone; onClose: () => void };

/** A span of a shared trace: only the data of the public route. */
export function SharedSpan({ model, index, zone, onClose }: SharedSpanProps): ReactNode {
  const { spans, texts } = model;
  const error = textOf(spans, spans.errors, index);
  return (
    <>
      <header className="flex items-center gap-2 border-b border-line px-4 py-2">
        <KindMark kind={kindOf(spans, index)} />
        <h2 className="min-w-0 flex-1 truncate text-lg">
          <Untrusted text={labelOf(spans, index)} />
        </h2>
        <IconButton icon="close" label="Close (Esc)" onClick={onClose} />
      </header>
      <div className="min-h-0 flex-1 space-y-4 overflow-y-auto p-4">
        <SpanFigures model={model} index={index} zone={zone} />
        {oddities(model, index).map((note) => (
          <p key={note} className="text-warn">
            {visibleText(note)}
          </p>
        ))}
        {(hasFlag(spans, index, "failed") || error !== "") && <Text label="Error" text={error || "Failed."} isError />}
        {texts === undefined ? (
          <p className="text-muted">This trace is too large to show the input and output of each span.</p>
        ) : (
          <>
            <Text label="Input" text={texts.inputs[index]} />
            <Text label="Output" text={texts.outputs[index]} />
          </>
        )}
      </div>
    </>
  );
}

function SpanFigures({ model: { spans }, index, zone }: Omit<SharedSpanProps, "onClose">): ReactNode {
  const model = textOf(spans, spans.models, index);
  const tokens = at(spans.tokens, index);
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-2">
      <Figure label="Kind">
        <Untrusted text={kindOf(spans, index)} />
      </Figure>
      {model !== "" && (
        <Figure label="Model">
          <Untrusted text={model} />
        </Figure>
      )}
      <Figure label="Duration">
        <span className="figures">{formatDuration(at(spans.durations, index) / 1000)}</span>
      </Figure>
      <Figure label="Cost">
        <span className="figures">{formatCost(at(spans.costs, index))}</span>
      </Figure>
      {!Number.isNaN(tokens) && (
        <Figure label="Tokens">
          <span className="figures">{formatInteger(tokens)}</span>
        </Figure>
      )}
      <Figure label="Started">
        <span className="figures">{formatExactTime(at(spans.starts, index), zone)}</span>
      </Figure>
    </dl>
  );
}

const shownChars = 100_000;

function Text({
  label,
  text,
  isError = false,
}: {
  label: string;
  text: string | null | undefined;
  isError?: boolean;
}): ReactNode {
  if (text === null || text === undefined) return null;
  return (
    <section>
      <h3 className="mb-1 text-xs text-muted">{label}</h3>
      <pre
        dir="auto"
        className={`max-h-[60vh] overflow-auto rounded-md border border-line bg-bg p-2 text-sm break-words whitespace-pre-wrap ${isError ? "text-error" : ""}`}
      >
        {visibleText(pretty(text.slice(0, shownChars)))}
      </pre>
      {text.length > shownChars && (
        <p className="text-muted">{formatInteger(text.length - shownChars)} more characters are not shown.</p>
      )}
    </section>
  );
}

/** Indents JSON; other text is unchanged. */
function pretty(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return indentedJson(JSON.parse(text));
  } catch {
    return text;
  }
}
