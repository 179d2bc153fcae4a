import type { CountOfUsage, RawUsage } from "../../domain/usage.ts";
import type { AttributeBag } from "./attribute-bag.ts";
import type { OtlpEvent, OtlpSpan } from "./export-request.ts";
import type { Message } from "../../messages/message.ts";

/** One span while conventions take what they know from it. */
export type SpanView = {
  readonly span: OtlpSpan;
  readonly scopeName: string;
  readonly isRoot: boolean;
  /** `gen_ai.operation.name`, "" where there is none. */
  readonly operation: string;
  readonly bag: AttributeBag;
  /** What is left of the span's events, and of log records that belong to it; conventions take theirs out. */
  events: OtlpEvent[];
};

/** What was said on a span. Each member is taken from the first convention that has it. */
export type SpanContent = {
  prompt?: Message[] | undefined;
  /** Instructions that stand beside the messages, which another convention may have. */
  system?: Message | undefined;
  /** All choices, the first one first. */
  completions?: Message[] | undefined;
  tools?: unknown[] | undefined;
  input?: unknown;
  output?: unknown;
};

/** Body field (ingest/wire-fields.ts) → attribute keys; the first that has a value of the field's type wins. */
export type FieldTable = Readonly<Record<string, readonly string[]>>;

/** Token counts → attribute keys, first hit wins. */
export type UsageTable = { readonly [K in CountOfUsage]?: readonly string[] };

/**
 * One vocabulary of attributes, as tables where tables do. The order of the list (conventions/list.ts) is the priority:
 * per field, and for what was said, the first convention that knows wins; what others say of it is dropped where it is
 * the same, or a repetition of the content.
 */
export type Convention = {
  readonly name: string;
  /** Whether this span can have something for it. Keep it cheap: it is asked for every span. */
  applies(view: SpanView): boolean;
  readonly fields?: FieldTable;
  readonly usage?: UsageTable | ((view: SpanView) => RawUsage | undefined);
  /** How its counts relate to cached tokens where the numbers do not tell. Default inclusive. */
  readonly cache?: (view: SpanView) => RawUsage["convention"];
  /** USD, first hit wins; the second list are parts to be summed. */
  readonly cost?: readonly string[];
  readonly costParts?: readonly string[];
  /** Attributes that are the user's own metadata: `a.b.plan` becomes `plan`. */
  readonly metadataPrefixes?: readonly string[];
  /** Attributes that are an object of metadata, as JSON text or as a key-value list. */
  readonly metadataObjects?: readonly string[];
  /** Whether every metadata value is JSON text, also single words and numbers. */
  readonly metadataIsJson?: boolean;
  /** Field values that need code; asked after `fields`, with the same priority. */
  derive?(view: SpanView): Record<string, unknown>;
  content?(view: SpanView): SpanContent | undefined;
};
