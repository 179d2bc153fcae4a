import { mediaReference, mediaReferences } from "../domain/media.ts";
import { mediaTypeOfBase64 } from "../ingest/media/find-media.ts";
import { FairGate } from "../lib/fair-gate.ts";
import { evaluationLimits } from "./limits.ts";
import type { SpanStore } from "../storage/spans/span-store.ts";
import type { JudgePrompt } from "./judge.ts";

/**
 * The media that a judge receives beside its prompt, as parts of an OpenAI chat message, and the media left out, with
 * reasons.
 */
export type JudgeMedia = {
  shown: readonly { reference: string; part: Record<string, unknown> }[];
  left: readonly { reference: string; reason: string }[];
};

/**
 * Runs `work` with the media that a prompt refers to. The media may take megabytes, so only a few run concurrently; the
 * others wait in a fair queue.
 * @throws GateRefusal if too many wait
 * @throws ServiceError `unavailable`
 */
export type WithJudgeMedia = <T>(
  prompt: JudgePrompt,
  of: { organizationId: string; signal: AbortSignal },
  work: (media: JudgeMedia) => Promise<T>,
) => Promise<T>;

export function createJudgeMedia(spans: Pick<SpanStore, "readMedia">): {
  withMedia: WithJudgeMedia;
  /** The number of waiting calls. */
  waiting: () => number;
  gate: FairGate;
} {
  const gate = new FairGate({
    maxInFlight: evaluationLimits.judgesWithMedia,
    maxWaiting: 2 * evaluationLimits.evaluationRunsInFlight,
    sharesSlots: true,
  });
  const withMedia: WithJudgeMedia = async (prompt, { organizationId, signal }, work) => {
    const ids = [...new Set(Array.from(prompt.text.matchAll(mediaReferences()), ([, id = ""]) => id))];
    if (ids.length === 0) return await work({ shown: [], left: [] });
    return await gate.run(organizationId, signal, async () => {
      const first = ids.slice(0, evaluationLimits.judgeMedia);
      const stored = await spans.readMedia(
        { organization_id: organizationId },
        first.filter((id) => !prompt.media.has(id)),
        { signal, maxChars: evaluationLimits.judgeMediaChars },
      );
      const texts = new Map([...prompt.media, ...stored.map(({ id, text }) => [id, text] as const)]);
      return await work(judgeMedia(first, ids.slice(evaluationLimits.judgeMedia), texts));
    });
  };
  return { withMedia, waiting: () => gate.waiting, gate };
}

function judgeMedia(
  ids: readonly string[],
  further: readonly string[],
  texts: ReadonlyMap<string, string>,
): JudgeMedia {
  const shown: { reference: string; part: Record<string, unknown> }[] = [];
  const left: { reference: string; reason: string }[] = [];
  let chars = 0;
  for (const id of ids) {
    const [reference, text] = [mediaReference(id), texts.get(id)];
    const isTooLarge = text === "" || chars + (text?.length ?? 0) > evaluationLimits.judgeMediaChars;
    const part = text === undefined || isTooLarge ? undefined : partOf(id, text);
    if (part !== undefined) {
      shown.push({ reference, part });
      chars += text?.length ?? 0;
    } else left.push({ reference, reason: text === undefined ? "not found" : isTooLarge ? tooLarge : unknownFormat });
  }
  left.push(...further.map((id) => ({ reference: mediaReference(id), reason: tooMany })));
  return { shown, left };
}

const tooLarge = `more than ${evaluationLimits.judgeMediaChars >> 20} MiB of base64`;
const tooMany = `more than ${evaluationLimits.judgeMedia} are not shown`;
const unknownFormat = "no PNG, JPEG, GIF, WebP, WAV, MP3 or PDF";

/** The same without any media. */
export function withoutMedia({ shown, left }: JudgeMedia, reason: string): JudgeMedia {
  return { shown: [], left: [...shown.map(({ reference }) => ({ reference, reason })), ...left] };
}

/** For the judge, and for readers of its answer. */
export function mentionLeft(left: JudgeMedia["left"]): string {
  const named = left.slice(0, mentioned).map(({ reference, reason }) => `${reference} (${reason})`);
  const rest = left.length > mentioned ? ` and ${left.length - mentioned} more` : "";
  return `Not shown to the judge: ${named.join(", ")}${rest}.`;
}

const mentioned = 5;

const uriOf = (type: string, base64: string) => `data:${type};base64,${base64}`;
const image = (_id: string, base64: string, type: string) => ({
  type: "image_url",
  image_url: { url: uriOf(type, base64) },
});
const audio = (format: string) => (_id: string, data: string) => ({
  type: "input_audio",
  input_audio: { data, format },
});

/** The formats that models read. The type follows from the bytes, because providers refuse a wrong one. */
const parts: Readonly<Record<string, (id: string, base64: string, type: string) => Record<string, unknown>>> = {
  "image/png": image,
  "image/jpeg": image,
  "image/gif": image,
  "image/webp": image,
  "audio/wav": audio("wav"),
  "audio/mpeg": audio("mp3"),
  "application/pdf": (id, base64, type) => ({
    type: "file",
    file: { filename: `${id.slice(0, 12)}.pdf`, file_data: uriOf(type, base64) },
  }),
};

/** @param text a data URI or bare base64, in either alphabet, possibly with line breaks */
function partOf(id: string, text: string): Record<string, unknown> | undefined {
  const base64 = Buffer.from(text.slice(text.indexOf(",") + 1), "base64").toString("base64");
  const type = mediaTypeOfBase64(base64.slice(0, 64)) ?? "";
  return Object.hasOwn(parts, type) ? parts[type]?.(id, base64, type) : undefined;
}
