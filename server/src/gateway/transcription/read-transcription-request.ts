import { extname } from "node:path";
import { ServiceError } from "../../domain/errors.ts";
import { domainLimits } from "../../domain/limits.ts";
import { isObject } from "../../lib/json.ts";
import { isServiceParam } from "../request/service-params.ts";
import type { Form, FormFile } from "./read-form.ts";

/** A parsed transcription request. */
export type TranscriptionRequest = {
  model: string;
  file: FormFile;
  /** Fields for the provider, unchanged, except `model`. */
  fields: ReadonlyArray<readonly [name: string, text: string]>;
  /** The fields as values to record, including `model`. */
  recorded: Record<string, unknown>;
  /** Whether the response is JSON rather than text. */
  isJson: boolean;
  /** The caller requested server-sent events. */
  isStream: boolean;
};

const formats = ["flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm"] as const;

const formatsByType: Readonly<Record<string, (typeof formats)[number]>> = {
  "audio/flac": "flac",
  "audio/x-flac": "flac",
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3",
  "audio/mpga": "mpga",
  "audio/mp4": "mp4",
  "video/mp4": "mp4",
  "video/mpeg": "mpeg",
  "audio/m4a": "m4a",
  "audio/x-m4a": "m4a",
  "audio/ogg": "ogg",
  "application/ogg": "ogg",
  "video/ogg": "ogg",
  "audio/wav": "wav",
  "audio/wave": "wav",
  "audio/x-wav": "wav",
  "audio/vnd.wave": "wav",
  "audio/webm": "webm",
  "video/webm": "webm",
};

/** `diarized_json` is for models that distinguish speakers. */
const jsonFormats = ["json", "verbose_json", "diarized_json"];
const responseFormats = [...jsonFormats, "text", "srt", "vtt"];

/** @throws ServiceError `invalid_request` naming the parameter */
export function readTranscriptionRequest(form: Form, members: Record<string, unknown>): TranscriptionRequest {
  const file = readFile(form.file);
  const model = members["model"];
  if (typeof model !== "string" || model === "") throw bad("model", "must name a model, such as whisper-1");
  if (model.length > domainLimits.identifierChars) throw bad("model", "is too long");
  const format = members["response_format"] ?? "json";
  if (typeof format !== "string" || !responseFormats.includes(format)) {
    throw bad("response_format", `must be one of ${responseFormats.join(", ")}`);
  }
  readGranularities(members["timestamp_granularities"], format);
  for (const name of ["language", "prompt"]) {
    const value = members[name];
    if (value !== undefined && typeof value !== "string") throw bad(name, "must be text");
  }
  checkLanguage(members["language"]);
  const temperature = readTemperature(members["temperature"]);
  const recorded = Object.fromEntries(Object.entries(members).filter(([name]) => !isServiceParam(name)));
  return {
    model,
    file,
    fields: form.fields.filter(([name]) => !isServiceParam(name.split("[")[0] ?? "") && name !== "model"),
    recorded: { ...recorded, ...(temperature === undefined ? {} : { temperature }) },
    isStream: readFlag("stream", members["stream"]),
    isJson: jsonFormats.includes(format),
  };
}

/** @throws ServiceError `invalid_request` for a code that names no language */
export function checkLanguage(language: unknown): void {
  if (typeof language !== "string" || language === "" || isLanguage(language)) return;
  throw bad("language", "must be a code of ISO 639-1, such as en");
}

/**
 * Accepts a name without a provider prefix if it looks like a transcription model or a provider setting lists it. A
 * name with a prefix is left to the provider.
 * @param isListed called if the name alone does not decide
 * @throws ServiceError `invalid_request`
 */
export async function checkModel(model: string, isListed: (model: string) => Promise<boolean>): Promise<void> {
  if (mayTranscribe(model) || (await isListed(model))) return;
  throw bad("model", "must be one that transcribes: whisper-1 is available");
}

function mayTranscribe(model: string): boolean {
  return model.includes("/") || /whisper|transcri|voxtral|parakeet|canary|asr|stt|speech/i.test(model);
}

function readFile(file: FormFile | undefined): FormFile {
  if (!file) throw bad("file", "is required: a form part with a recording");
  if (file.bytes.length === 0) throw bad("file", "must not be empty");
  const extension = extname(file.name).slice(1).toLowerCase();
  const byType = formatsByType[file.mediaType];
  if (formats.some((format) => format === extension)) return file;
  if (byType === undefined) {
    const what = extension === "" ? file.mediaType || "of no type" : `.${extension}`;
    throw bad("file", `is ${JSON.stringify(what.slice(0, 64))}, and must be one of ${formats.join(", ")}`);
  }
  // Providers detect the format by file name, which blobs lack.
  return extension === "" ? { ...file, name: `${file.name || "audio"}.${byType}` } : file;
}

function readGranularities(value: unknown, format: string): void {
  if (value === undefined) return;
  const list = granularitiesOf(value);
  if (list.length === 0 || list.some((one) => one !== "word" && one !== "segment")) {
    throw bad("timestamp_granularities", "must be word, segment or both");
  }
  if (format !== "verbose_json") throw bad("timestamp_granularities", "requires response_format to be verbose_json");
}

function granularitiesOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  if (isObject(value)) return Object.values(value);
  return [value];
}

/** A form has no booleans, only text. */
function readFlag(name: string, value: unknown): boolean {
  if (value === undefined || value === "") return false;
  const text = typeof value === "string" ? value.trim().toLowerCase() : "";
  if (text !== "true" && text !== "false") throw bad(name, "must be true or false");
  return text === "true";
}

function readTemperature(value: unknown): number | undefined {
  if (value === undefined || value === "") return undefined;
  const temperature = typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;
  if (!(temperature >= 0 && temperature <= 1)) throw bad("temperature", "must be a number from 0 to 1");
  return temperature;
}

function bad(param: string, message: string): ServiceError {
  return new ServiceError("invalid_request", `${param} ${message}.`, { errors: { [param]: [message] } });
}

const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

/**
 * Whether a code names a language: ISO 639-1, or ISO 639-3 for a language without a two-letter code, with an optional
 * region or script. `auto` lets the model detect the language.
 */
function isLanguage(code: string): boolean {
  if (code === "auto") return true;
  try {
    return names.of(code.replaceAll("_", "-")) !== undefined;
  } catch {
    return false;
  }
}
