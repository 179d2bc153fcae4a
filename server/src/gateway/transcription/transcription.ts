import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { ServiceError } from "../../domain/errors.ts";
import { audioSeconds } from "../../lib/audio-duration.ts";
import { isObject, parseJson } from "../../lib/json.ts";
import { applyParams, type CallLedger } from "../call/call-ledger.ts";
import { createEventSource, feedEvents } from "../stream/event-source.ts";
import type { OutgoingCall } from "../call/exchange.ts";
import { readRouteHeaders } from "../chat/read-chat-request.ts";
import type { CallOperation, CompleteAnswer, CompleteReply } from "../call/operation.ts";
import type { Attempt } from "../routing/plan.ts";
import type { Router } from "../routing/router.ts";
import { readServiceParams } from "../request/service-params.ts";
import { membersOf } from "./form-members.ts";
import { readTranscriptStream, readTranscription } from "./read-reply.ts";
import { readForm, type FormFile } from "./read-form.ts";
import {
  checkLanguage,
  checkModel,
  readTranscriptionRequest,
  type TranscriptionRequest,
} from "./read-transcription-request.ts";
import { captureForm } from "./capture-form.ts";
import { writeForm } from "./write-form.ts";

export type Transcription = CallOperation & {
  /**
   * Inspects the chunks of a form as it arrives.
   * @param refuse called as soon as a field is invalid
   */
  watch(contentType: string, organizationId: string, refuse: (error: ServiceError) => void): (chunk: Buffer) => void;
};

/** The transcription of a recording that is sent in a form. */
export function createTranscription({ router }: { router: Pick<Router, "lists"> }): Transcription {
  const checkModelOf = (organizationId: string, model: string): Promise<void> =>
    checkModel(model, (name) => router.lists(organizationId, name));
  return {
    operation: "transcription",
    logType: "transcription",
    watch(contentType, organizationId, refuse) {
      const check = async (name: string, text: string): Promise<void> => {
        if (name === "language") checkLanguage(text);
        if (name === "model" && text !== "") await checkModelOf(organizationId, text);
      };
      return captureForm(contentType, (name, text) => {
        check(name, text).catch((error: unknown) => error instanceof ServiceError && refuse(error));
      });
    },
    async read(caller, ledger) {
      const { bytes, headers, origin } = caller;
      const form = readForm(bytes, headers["content-type"] ?? "");
      const members = membersOf(form.fields);
      if (typeof members["model"] === "string") ledger.model = members["model"];
      if (form.file !== undefined) describeRecording(form.file, members["prompt"], ledger);
      ledger.stream = members["stream"] === true || members["stream"] === "true";
      const params = readServiceParams(members, caller);
      applyParams(ledger, params);
      const request = readTranscriptionRequest(form, members);
      await checkModelOf(origin.organization_id, request.model);
      return {
        params,
        model: request.model,
        ...readRouteHeaders(headers),
        members: request.recorded,
        isStream: request.isStream,
        recording: request.file.bytes,
        call: (attempt) => callOf(request, attempt),
        reader: () => ({
          isStream: (answered) => /^text\/event-stream\b/i.test(answered["content-type"] ?? ""),
          stream: (sink) => createEventSource(readTranscriptStream(ledger), sink),
          readComplete: (reply) => readTranscription(reply, request.isJson, ledger),
          // Models that cannot stream return a complete response, which is forwarded unchanged.
          mayAnswerUnstreamed: true,
          asStream: (reply, sink) => feedEvents(eventsOf(reply, request), sink),
          answer: (reply, breakdown) => answerOf(reply, request, breakdown),
        }),
      };
    },
  };
}

/** Records everything about the file except its bytes. */
function describeRecording({ name, mediaType, bytes }: FormFile, prompt: unknown, ledger: CallLedger): void {
  const seconds = audioSeconds(bytes);
  ledger.audioSeconds = seconds;
  ledger.content = {
    audio_input_file: {
      filename: name,
      content_type: mediaType,
      bytes: bytes.length,
      ...(seconds !== undefined && { duration: seconds }),
    },
    ...(typeof prompt === "string" && { input: prompt }),
  };
}

function callOf({ fields, file, isJson, isStream }: TranscriptionRequest, { target, quirks }: Attempt): OutgoingCall {
  const { contentType, body } = writeForm([["model", target.model], ...fields], file);
  const headers: Record<string, string> = {
    "content-type": contentType,
    accept: isStream ? "text/event-stream, */*" : isJson ? "application/json" : "text/plain, */*",
    "accept-encoding": "identity",
    "user-agent": "spanway",
  };
  if (target.credential.apiKey !== undefined) {
    const [name, value] = quirks.auth(target.credential.apiKey);
    headers[name] = value;
  }
  return { method: "POST", url: target.baseUrl + quirks.path("transcription", target), headers, body };
}

/** A complete transcription as the final event of a stream. */
function eventsOf({ bytes }: CompleteReply, { isJson }: TranscriptionRequest): string {
  const parsed = isJson ? parseJson(bytes) : undefined;
  const reply = parsed?.ok === true && isObject(parsed.value) ? parsed.value : { text: bytes.toString("utf8") };
  return `data: ${JSON.stringify({ ...reply, type: "transcript.text.done" })}\n\n`;
}

/** Members of a breakdown that go into a header: no content. */
const headerMembers = [
  "cost",
  "model",
  "cached",
  "timestamp",
  "status_code",
  "latency",
  "routing_time",
  "prompt_tokens",
  "completion_tokens",
];

/** The provider's own bytes. Only JSON can contain a breakdown; for text it goes into a header. */
function answerOf(
  { headers, bytes }: CompleteReply,
  { isJson }: TranscriptionRequest,
  breakdown: Record<string, unknown> | undefined,
): CompleteAnswer {
  const type = contentTypeOf(headers, isJson);
  if (breakdown === undefined) return { body: bytes, headers: type };
  if (!isJson) {
    const breakdownHeaders = Object.fromEntries(headerMembers.map((name) => [name, breakdown[name]]));
    return { body: bytes, headers: { ...type, "x-spanway-request-breakdown": asciiJson(breakdownHeaders) } };
  }
  const parsed = parseJson(bytes);
  const reply = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  return { body: JSON.stringify({ ...reply, request_breakdown: breakdown }), headers: type };
}

function contentTypeOf(headers: IncomingHttpHeaders, isJson: boolean): OutgoingHttpHeaders {
  return { "content-type": headers["content-type"] ?? (isJson ? "application/json" : "text/plain; charset=utf-8") };
}

function asciiJson(value: unknown): string {
  const escape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, escape);
}
