import { z } from "zod";
import type { Principal } from "../../domain/principal.ts";
import type { CallRunner } from "../../gateway/call/run-call.ts";
import type { Transcription } from "../../gateway/transcription/transcription.ts";
import { fileTooLarge } from "../../gateway/transcription/read-form.ts";
import { endpoint, type Context } from "../../http/endpoint.ts";
import type { BodyObserver } from "../../http/read-body.ts";
import { apiLimits } from "../limits.ts";
import {
  eventStream,
  gatewayErrorNotes,
  gatewayErrors,
  gatewayHeaders,
  gatewayParameters,
  serviceParamMembers,
} from "../gateway-docs.ts";
import { gatewayCall, unreadCall } from "../gateway-call.ts";

const transcriptionForm = z
  .looseObject({
    file: z.string().meta({ description: "flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm.", format: "binary" }),
    model: z.string().meta({ example: "whisper-1" }),
    language: z.string().optional().meta({ description: "ISO 639-1." }),
    prompt: z.string().optional(),
    response_format: z.enum(["json", "text", "srt", "verbose_json", "vtt"]).default("json").optional(),
    temperature: z.number().min(0).max(1).optional(),
    stream: z.boolean().optional().meta({ description: "Server-sent events, if the model supports them." }),
    timestamp_granularities: z
      .array(z.enum(["word", "segment"]))
      .optional()
      .meta({ description: "Requires `response_format` to be `verbose_json`." }),
    ...serviceParamMembers,
    metadata: z.looseObject({}).optional().meta({ description: "As JSON, or as `metadata[key]`." }),
  })
  .meta({ id: "TranscriptionForm" });

const transcription = z
  .looseObject({ text: z.string(), request_breakdown: z.looseObject({}).optional() })
  .meta({ id: "Transcription" });

const captureWith =
  (operation: Transcription) =>
  ({ headers, principal }: Context): BodyObserver => {
    const { organization_id } = principal as Principal;
    let take: ((chunk: Buffer) => void) | undefined;
    return (chunk, refuse) => {
      take ??= operation.watch(headers["content-type"] ?? "", organization_id, refuse);
      take(chunk);
    };
  };

export const createTranscription = (deps: { calls: CallRunner; transcription: Transcription }) =>
  endpoint({
    id: "create_transcription",
    method: "POST",
    path: "/api/audio/transcription",
    aliases: [
      "/api/audio/transcriptions",
      "/v1/audio/transcriptions",
      "/audio/transcriptions",
      "/api/v1/audio/transcriptions",
    ],
    summary: "Transcribe a recording",
    description:
      "Sends a recording to the provider of its model, and records the call as a span without the recording. The response is " +
      "the provider's, byte for byte: JSON, or text for `text`, `srt` and `vtt`. A requested breakdown " +
      "is part of the JSON; with text it is in the header `x-spanway-request-breakdown`.",
    tags: ["Gateway"],
    auth: "key",
    permission: "gateway:call",
    parameters: gatewayParameters,
    dialect: "openai",
    body: {
      kind: "raw",
      example: { file: "@recording.mp3", model: "whisper-1" },
      maxBytes: apiLimits.audioFormBytes,
      tooLarge: fileTooLarge,
      watch: captureWith(deps.transcription),
      documents: transcriptionForm,
      mediaTypes: ["multipart/form-data"],
    },
    success: {
      status: 200,
      schema: transcription,
      description: "The transcription, or its stream if `stream` is true.",
      alternatives: { ...eventStream, "text/plain": "`text`, `srt` and `vtt`." },
    },
    docs: { headers: gatewayHeaders, errorNotes: gatewayErrorNotes },
    errors: gatewayErrors,
    onBodyRefused: (context, error) => deps.calls.refuse(deps.transcription, unreadCall(context), error),
    async handler(context) {
      await deps.calls.run(deps.transcription, gatewayCall(context));
      return {} as never;
    },
  });
