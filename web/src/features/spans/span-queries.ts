import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Api } from "../../api/client.ts";
import { bodyOf } from "../../api/client.ts";
import { useApi, useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { isRecord, parseExactly } from "../../lib/exact-json.ts";
import { panelFields, type Span } from "./span-record.ts";

/** A span of an id never changes but by edits, which write the answer here. */
const staleMs = 60_000;

/** What the panel shows, without the request and the response as they were sent. */
export function useSpan(id: string) {
  return useApiQuery(
    ["span", id],
    async (api, signal): Promise<Span> => {
      const span = await askSpan(api, id, panelFields.join(","), signal);
      const hasMessages = Array.isArray(span["prompt_messages"]) && span["completion_message"] !== null;
      return hasMessages ? span : { ...span, ...(await askSpan(api, id, "input,output", signal)) };
    },
    { staleTime: staleMs },
  );
}

/** Every member of a span. */
export function useWholeSpan(id: string) {
  return useApiQuery(["span", id, "whole"], (api, signal) => askSpan(api, id, undefined, signal), {
    staleTime: staleMs,
  });
}

/** What a span adds to its conversation: the messages that no earlier span of it holds, or how many others there are. */
export type Added = { messages: unknown[] } | { resentCount: number };

/** `form` is `count` where the messages are so large that they should not be fetched twice. */
export function useNewMessages(id: string, form: "messages" | "count", isAsked: boolean) {
  return useApiQuery(
    ["span", id, "new", form],
    async (api, signal): Promise<Added> => {
      const fields = form === "count" ? "resent_message_count" : "new_messages";
      const { new_messages: messages, resent_message_count: count } = await askSpan(api, id, fields, signal);
      if (form === "count") return { resentCount: typeof count === "number" ? count : 0 };
      return { messages: Array.isArray(messages) ? (messages as unknown[]) : [] };
    },
    { staleTime: staleMs, enabled: isAsked, retry: false },
  );
}

/** As text, so that no digit of a long number is lost. */
async function askSpan(api: Api, id: string, fields: string | undefined, signal: AbortSignal): Promise<Span> {
  const query = fields === undefined ? {} : { include_fields: fields };
  const text = await bodyOf(
    api.GET("/api/request-logs/{unique_id}/", { params: { path: { unique_id: id }, query }, signal, parseAs: "text" }),
  );
  const span = parseExactly(text);
  return isRecord(span) ? span : {};
}

export type SpanChange = {
  note?: string | null;
  is_pinned?: boolean;
  positive_feedback?: boolean | null;
  metadata?: Record<string, unknown>;
};

/** Notes, pins, rates a span or changes its metadata, and shows what the server made of it. */
export function useUpdateSpan(id: string) {
  const api = useApi();
  const queries = useQueryClient();
  const environment = useEnvironment();
  return useMutation({
    mutationFn: (change: SpanChange) =>
      bodyOf(api.PATCH("/api/request-logs/{unique_id}/", { params: { path: { unique_id: id } }, body: change })),
    onSuccess: (changed) => {
      const merge = (span: Span | undefined): Span | undefined => span && { ...span, ...changed };
      queries.setQueryData<Span>([environment, "span", id], merge);
      queries.setQueryData<Span>([environment, "span", id, "whole"], merge);
      void queries.invalidateQueries({ queryKey: [environment, "logs"] });
    },
  });
}
