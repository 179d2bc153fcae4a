import { useState, type ReactNode } from "react";
import { formatInteger } from "../../lib/format.ts";
import { Markdown } from "./markdown.tsx";
import { markdownChars } from "./markdown-bounds.ts";
import { useMessageForm } from "./message-form.ts";
import { PlainText } from "./plain-text.tsx";

const growth = 4;
const charsAtMost = 1_000_000;

/** A text of any length: shows its beginning, and more on demand. */
export function TextBlock({ text, startChars = 6000 }: { text: string; startChars?: number }): ReactNode {
  const [chars, setChars] = useState(startChars);
  const form = useMessageForm();
  const shown = text.length <= chars * 1.2 ? text : text.slice(0, chars);
  const rest = text.length - shown.length;
  return (
    <>
      {form === "markdown" && shown.length <= markdownChars ? <Markdown text={shown} /> : <PlainText text={shown} />}
      {rest > 0 && (
        <p className="mt-1 flex items-center gap-2 text-xs text-muted">
          <span>{formatInteger(rest)} more characters</span>
          {chars < charsAtMost ? (
            <button type="button" className="text-accent hover:underline" onClick={() => setChars(chars * growth)}>
              Show more
            </button>
          ) : (
            <span>The tab JSON has all of it.</span>
          )}
          {chars > startChars && (
            <button type="button" className="text-accent hover:underline" onClick={() => setChars(startChars)}>
              Show less
            </button>
          )}
        </p>
      )}
    </>
  );
}
