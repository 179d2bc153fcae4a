import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Api } from "../../api/client.ts";
import { bodyOf } from "../../api/client.ts";
import { useApi, useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { isRecord, parseExactly } from "../../lib/exact-json.ts";
import { panelFields, type Span } from "./span-record.ts";

/** A span with a given id changes only by edits, which update this cache with their response. */
const staleMs = 60_000;

/** The members that the panel shows, without the raw request and response. */
export function useSpan(id: string) {
  return useApiQuery(
    ["span", id],
    async (api, signal): Promise<Span> => {
      const span = await fetchSpan(api, id, panelFields.join(","), signal);
      const hasMessages = Array.isArray(span["prompt_messages"]) && span["completion_message"] !== null;
      return hasMessages ? span : { ...span, ...(await fetchSpan(api, id, "input,output", signal)) };
    },
    { staleTime: staleMs },
  );
}

/** Every member of a span. */
export function useWholeSpan(id: string) {
  return useApiQuery(["span", id, "whole"], (api, signal) => fetchSpan(api, id, undefined, signal), {
    staleTime: staleMs,
  });
}

/**
 * The new messages of a span: those that no earlier span of its conversation contains, or the number of resent ones.
 */
export type Added = { messages: unknown[] } | { resentCount: number };

/** `form` is `count` if the messages are too large to be fetched twice. */
export function useNewMessages(id: string, form: "messages" | "count", isEnabled: boolean) {
  return useApiQuery(
    ["span", id, "new", form],
    async (api, signal): Promise<Added> => {
      const fields = form === "count" ? "resent_message_count" : "new_messages";
      const { new_messages: messages, resent_message_count: count } = await fetchSpan(api, id, fields, signal);
      if (form === "count") return { resentCount: typeof count === "number" ? count : 0 };
      return { messages: Array.isArray(messages) ? (messages as unknown[]) : [] };
    },
    { staleTime: staleMs, enabled: isEnabled, retry: false },
  );
}

/** Read as text, so that long numbers keep all digits. */
async function fetchSpan(api: Api, id: string, fields: string | undefined, signal: AbortSignal): Promise<Span> {
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

/** Sets note, pin or feedback of a span or changes its metadata, and shows the server's result. */
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
