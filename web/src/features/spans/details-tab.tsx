import type { ReactNode } from "react";
import { ContextLinks } from "./context-links.tsx";
import { Editable } from "./editable.tsx";
import { EditMetadata } from "./edit-metadata.tsx";
import { EditNote } from "./edit-note.tsx";
import { FactList } from "./fact-list.tsx";
import { identifiersOf, parametersOf, timingOf } from "./facts.ts";
import { ScoreList } from "./score-list.tsx";
import { recordOf, type Span } from "./span-record.ts";
import { JsonTree } from "../../ui/json-tree.tsx";
import { useTimeZone } from "../../ui/value.tsx";

/** The fields of a span other than its content, and its notes and scores. */
export function DetailsTab({ id, span }: { id: string; span: Span }): ReactNode {
  const zone = useTimeZone();
  const properties = recordOf(span, "properties");
  return (
    <div className="divide-y divide-line">
      <Section title="Context">
        <ContextLinks id={id} span={span} />
      </Section>
      <Section title="Note and feedback">
        <Editable>
          <EditNote key={id} id={id} span={span} />
        </Editable>
      </Section>
      <Section title="Scores">
        <Editable>
          <ScoreList id={id} />
        </Editable>
      </Section>
      <Section title="Metadata">
        <Editable>
          <EditMetadata key={id} id={id} metadata={recordOf(span, "metadata")} />
        </Editable>
      </Section>
      <Section title="Timing">
        <FactList facts={timingOf(span, zone)} />
      </Section>
      <Section title="Call">
        <FactList facts={parametersOf(span)} />
      </Section>
      {Object.keys(properties).length > 0 && (
        <Section title="Properties">
          <JsonTree value={properties} maxHeight={260} label="Properties" />
        </Section>
      )}
      <Section title="Identifiers">
        <FactList facts={identifiersOf(span)} areCopied />
      </Section>
    </div>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section className="px-3 py-2">
      <h3 className="mb-1 text-xs font-semibold">{title}</h3>
      {children}
    </section>
  );
}
