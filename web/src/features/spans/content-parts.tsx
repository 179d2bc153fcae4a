import type { ReactNode } from "react";
import { formatInteger } from "../../lib/format.ts";
import { isRecord } from "../../lib/exact-json.ts";
import { partsOfValue, type Conversation } from "../messages/conversation.ts";
import { MediaView } from "../messages/media-view.tsx";
import { readMedia } from "../messages/media.ts";
import { PartView } from "../messages/part-view.tsx";
import { firstText } from "../messages/members.ts";
import { vectorsIn } from "./vectors.ts";
import { listOf, textOf, type Span } from "./span-record.ts";

/** The content of a span other than messages: input and output of tools and agents, recordings, vectors. */
export function ContentParts({ span, conversation }: { span: Span; conversation: Conversation }): ReactNode {
  const { input, output, sent, answers } = conversation;
  const vectors = vectorsIn(span["embedding"]);
  const recordings = ["audio_input_file", "audio_output_file"].filter((member) => isPresent(span[member]));
  const isEmpty =
    sent.length + answers.length + vectors.length + recordings.length === 0 &&
    input === undefined &&
    output === undefined;
  return (
    <>
      {input !== undefined && <Block title="Input" value={input} />}
      {recordings.map((member) => (
        <Section key={member} title={member === "audio_input_file" ? "Recording" : "Speech"}>
          <MediaView media={readMedia({ shown: "audio", data: addressIn(span[member]) })} />
        </Section>
      ))}
      {output !== undefined && <Block title="Output" value={output} />}
      {isPresent(span["ideal_output"]) && <Block title="Ideal output" value={span["ideal_output"]} />}
      {vectors.length > 0 && <Vectors vectors={vectors} />}
      {isEmpty && <p className="p-3 text-muted">{whyEmpty(span)}</p>}
    </>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section className="border-t border-line px-3 py-2 first:border-t-0">
      <h3 className="mb-1 text-xs font-semibold">{title}</h3>
      {children}
    </section>
  );
}

function Block({ title, value }: { title: string; value: unknown }): ReactNode {
  return (
    <Section title={title}>
      {partsOfValue(value).map((part, at) => (
        <PartView key={at} part={part} />
      ))}
    </Section>
  );
}

const vectorsShown = 20;
const numbersShown = 8;

const numberText = (value: unknown): string => (typeof value === "number" ? value.toFixed(4) : "?");

function Vectors({ vectors }: { vectors: readonly unknown[][] }): ReactNode {
  return (
    <Section title={vectors.length === 1 ? "Embedding" : `${formatInteger(vectors.length)} embeddings`}>
      {vectors.slice(0, vectorsShown).map((vector, at) => (
        <p key={at} className="truncate py-0.5">
          <span className="text-xs text-muted">{formatInteger(vector.length)} dimensions: </span>
          <span className="figures">{vector.slice(0, numbersShown).map(numberText).join(", ")}, …</span>
        </p>
      ))}
      {vectors.length > vectorsShown && <p className="text-xs text-muted">The tab JSON has all of them.</p>}
    </Section>
  );
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

function addressIn(value: unknown): unknown {
  return isRecord(value) ? firstText(value, "url", "uri", "data", "file") : value;
}

function whyEmpty(span: Span): string {
  if (span["is_log_omitted"] === true) return "The sender asked not to store input and output.";
  if (listOf(span, "tools").length > 0 || textOf(span, "error_message") !== undefined)
    return "The span has no input and no output.";
  return "The span was sent without input and output.";
}
