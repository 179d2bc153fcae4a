import type { Media } from "./media.ts";

/** What a message shows, one after the other, whichever SDK or provider wrote it. */
export type DisplayPart =
  | { kind: "text"; text: string; sources?: Source[] }
  /** `text` is "" where the provider keeps the thoughts to itself. */
  | { kind: "reasoning"; text: string }
  | { kind: "refusal"; text: string }
  | { kind: "code"; language: string; text: string }
  | { kind: "media"; media: Media; caption: string | undefined }
  | { kind: "file"; name: string; media: Media | undefined }
  | ToolCallPart
  | ToolResultPart
  /** What is none of the known shapes, as it is. */
  | { kind: "value"; label: string; value: unknown };

export type Source = { title: string; url: string };

export type ToolCallPart = {
  kind: "tool-call";
  id: string | undefined;
  name: string;
  /** Parsed where it is JSON text, else what was sent. */
  arguments: unknown;
  /** Set by `pairTools`. */
  result?: ToolResultPart;
  /** The result came in a later message that is shown elsewhere. */
  isAnsweredLater?: boolean;
};

export type ToolResultPart = {
  kind: "tool-result";
  id: string | undefined;
  name: string | undefined;
  parts: DisplayPart[];
  isError: boolean;
  /** The call that it answers, where that is shown elsewhere. Set by `pairTools`. */
  call?: Pick<ToolCallPart, "name" | "arguments">;
};

export type Tone = "system" | "user" | "assistant" | "tool" | "other";

export type DisplayMessage = {
  /** Its place among the messages of the span. */
  place: number;
  role: string;
  tone: Tone;
  name: string | undefined;
  parts: DisplayPart[];
};
