import type { CountOfUsage, RawUsage } from "../../domain/usage.ts";
import type { AttributeBag } from "./attribute-bag.ts";
import type { OtlpEvent, OtlpSpan } from "./export-request.ts";
import type { Message } from "../../messages/message.ts";

/** One span while conventions take what they recognize from it. */
export type SpanView = {
  readonly span: OtlpSpan;
  readonly scopeName: string;
  readonly isRoot: boolean;
  /** `gen_ai.operation.name`, "" if there is none. */
  readonly operation: string;
  readonly bag: AttributeBag;
  /**
   * The remaining events of the span, and of log records that belong to it; conventions remove those that they take.
   */
  events: OtlpEvent[];
};

/** The content of a span. Each member is taken from the first convention that has it. */
export type SpanContent = {
  prompt?: Message[] | undefined;
  /** Instructions that are separate from the messages, which may come from another convention. */
  system?: Message | undefined;
  /** All choices, the first one first. */
  completions?: Message[] | undefined;
  tools?: unknown[] | undefined;
  input?: unknown;
  output?: unknown;
};

/** Body field (normalize/wire-fields.ts) → attribute keys; the first with a value of the field's type wins. */
export type FieldTable = Readonly<Record<string, readonly string[]>>;

/** Token counts → attribute keys; the first with a count wins. */
export type UsageTable = { readonly [K in CountOfUsage]?: readonly string[] };

/**
 * One vocabulary of attributes, as tables where possible. The order of the list (conventions/list.ts) is the priority:
 * for each field, and for content, the first convention that has it wins; the values of later ones are dropped if they
 * are the same, or repeat the content.
 */
export type Convention = {
  readonly name: string;
  /** Whether this span can have anything for it. Must be cheap: it is called for every span. */
  applies(view: SpanView): boolean;
  readonly fields?: FieldTable;
  readonly usage?: UsageTable | ((view: SpanView) => RawUsage | undefined);
  /** How its counts relate to cached tokens if the numbers do not show it. Defaults to inclusive. */
  readonly cache?: (view: SpanView) => RawUsage["convention"];
  /** USD, the first with a value wins; `costParts` are summed. */
  readonly cost?: readonly string[];
  readonly costParts?: readonly string[];
  /** Attributes of the user's own metadata: `a.b.plan` becomes `plan`. */
  readonly metadataPrefixes?: readonly string[];
  /** Attributes that contain an object of metadata, as JSON text or as a key-value list. */
  readonly metadataObjects?: readonly string[];
  /** Whether every metadata value is JSON text, including single words and numbers. */
  readonly metadataIsJson?: boolean;
  /** Field values that need code; applied after `fields`, with the same priority. */
  derive?(view: SpanView): Record<string, unknown>;
  content?(view: SpanView): SpanContent | undefined;
};
