import { modelSegment } from "../model-segment.ts";
import type { Target } from "../provider.ts";
import { refuse } from "../shared/refuse.ts";

const aiStudio = "https://generativelanguage.googleapis.com";

/**
 * The URL and headers for a call of a model: at Vertex AI for a credential with a `project`, else at the Gemini API.
 */
export function addressOf(target: Target, isStream: boolean): { url: string; headers: Record<string, string> } {
  const operation = isStream ? "streamGenerateContent?alt=sse" : "generateContent";
  const resource = isVertex(target) ? vertexModel(target) : `${apiRoot(target.baseUrl, "v1beta")}/${modelName(target)}`;
  return {
    url: `${resource}:${operation}`,
    headers: { "content-type": "application/json", ...keyHeader(target) },
  };
}

/** The URI of a file that was uploaded to the Gemini API, by its name there: `files/abc`. */
export function fileUri(target: Target, name: string): string {
  return `${apiRoot(target.baseUrl, "v1beta")}/${name}`;
}

export function isVertex({ credential }: Target): boolean {
  return credential.fields["project"] !== undefined;
}

/** A base URL may contain the API version. */
function apiRoot(baseUrl: string, version: string): string {
  return /\/v\d\w*$/.test(baseUrl) ? baseUrl : `${baseUrl}/${version}`;
}

function modelName({ model }: Target): string {
  if (/^(?:models|tunedModels)\//.test(model)) return model.split("/").map(modelSegment).join("/");
  return `models/${modelSegment(model)}`;
}

function vertexModel({ model, baseUrl, credential }: Target): string {
  const { fields } = credential;
  const project = nameOf(fields, "project", /^[a-z0-9][a-z0-9.:-]*$/) ?? "";
  const location = nameOf(fields, "location", labels) ?? nameOf(fields, "region", labels) ?? "global";
  const host = location === "global" ? "aiplatform.googleapis.com" : `${location}-aiplatform.googleapis.com`;
  const root = apiRoot(baseUrl === aiStudio ? `https://${host}` : baseUrl, "v1");
  const name = modelSegment(model.replace(/^models\//, ""));
  return `${root}/projects/${project}/locations/${location}/publishers/google/models/${name}`;
}

const labels = /^[a-z0-9-]+$/;

/** A part of the URL, checked so that it cannot change host or path. */
function nameOf(fields: Readonly<Record<string, string>>, field: string, pattern: RegExp): string | undefined {
  const name = fields[field];
  return name === undefined || pattern.test(name)
    ? name
    : refuse(field, "of the credential is not a valid Google name");
}

/** Vertex AI accepts an access token; the Gemini API, and Vertex AI in express mode, a key. */
function keyHeader(target: Target): Record<string, string> {
  const { apiKey } = target.credential;
  if (apiKey === undefined) return {};
  if (isVertex(target) && !apiKey.startsWith("AIza")) return { authorization: `Bearer ${apiKey}` };
  return { "x-goog-api-key": apiKey };
}
