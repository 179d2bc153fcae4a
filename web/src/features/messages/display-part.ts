import type { Media } from "./media.ts";

/** The parts of a message to display, in order, independent of the SDK or provider. */
export type DisplayPart =
  | { kind: "text"; text: string; sources?: Source[] }
  /** `text` is "" if the provider does not disclose the reasoning. */
  | { kind: "reasoning"; text: string }
  | { kind: "refusal"; text: string }
  | { kind: "code"; language: string; text: string }
  | { kind: "media"; media: Media; caption: string | undefined }
  | { kind: "file"; name: string; media: Media | undefined }
  | ToolCallPart
  | ToolResultPart
  /** A value of unknown shape, unchanged. */
  | { kind: "value"; label: string; value: unknown };

export type Source = { title: string; url: string };

export type ToolCallPart = {
  kind: "tool-call";
  id: string | undefined;
  name: string;
  /** Parsed if it is JSON text, otherwise as sent. */
  arguments: unknown;
  /** Set by `pairTools`. */
  result?: ToolResultPart;
  /** The result is in a later message that is shown elsewhere. */
  isAnsweredLater?: boolean;
};

export type ToolResultPart = {
  kind: "tool-result";
  id: string | undefined;
  name: string | undefined;
  parts: DisplayPart[];
  isError: boolean;
  /** The call that this result belongs to, if it is shown elsewhere. Set by `pairTools`. */
  call?: Pick<ToolCallPart, "name" | "arguments">;
};

export type Tone = "system" | "user" | "assistant" | "tool" | "other";

export type DisplayMessage = {
  /** Its index among the messages of the span. */
  place: number;
  role: string;
  tone: Tone;
  name: string | undefined;
  parts: DisplayPart[];
};
