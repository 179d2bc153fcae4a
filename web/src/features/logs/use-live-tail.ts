import { useEffect, useRef, useState } from "react";
import { ApiError } from "../../api/api-error.ts";
import type { Api } from "../../api/client.ts";
import { useApi, useEnvironment } from "../../api/use-api.ts";
import type { Filters } from "../../query-bar/to-filters.ts";
import { addSkipped, createEventReader, withLiveRows, type LiveEvent } from "./live-events.ts";
import type { LogRow } from "./row.ts";

const rowsMax = 1000;
const retryMs = 2000;
const paintMs = 250;

export type LiveState = {
  status: "connecting" | "open" | "failed";
  rows: readonly LogRow[];
  /** Spans that arrived while paused, up to the number of rows kept. */
  waiting: number;
  /** Spans that the stream skipped; null if their number is unknown. */
  skipped: number | null;
  error: Error | undefined;
};

const nothing: LiveState = { status: "connecting", rows: [], waiting: 0, skipped: 0, error: undefined };

/** Spans as they arrive, newest first. While paused they are buffered, and shown on resume. */
export function useLiveTail(options: {
  filters: Filters;
  fields: string;
  isOn: boolean;
  isPaused: boolean;
}): LiveState {
  const { filters, fields, isOn, isPaused } = options;
  const api = useApi();
  const environment = useEnvironment();
  const [state, setState] = useState(nothing);
  const paused = useRef(isPaused);
  const waiting = useRef<LogRow[]>([]);
  const text = JSON.stringify(filters);

  useEffect(() => {
    paused.current = isPaused;
    if (!isPaused) setState((before) => shown(before, waiting.current.splice(0)));
  }, [isPaused]);

  useEffect(() => {
    setState(nothing);
    waiting.current = [];
    if (!isOn) return undefined;
    const stop = new AbortController();
    const take = (events: readonly LiveEvent[]): void => {
      for (const event of events) {
        if (event.type === "span") waiting.current.push(event.row);
        else setState((before) => ({ ...before, skipped: addSkipped(before.skipped, event.count) }));
      }
      waiting.current.splice(0, waiting.current.length - rowsMax);
    };
    // Spans arrive faster than anybody can read: they are rendered in batches, a few times a second.
    const painter = setInterval(() => {
      const count = waiting.current.length;
      if (paused.current) setState((before) => (before.waiting === count ? before : { ...before, waiting: count }));
      else if (count > 0) setState((before) => shown(before, waiting.current.splice(0)));
    }, paintMs);
    const query = { environment, include_fields: fields, ...(text !== "{}" && { filters: text }) };
    void follow(api, query, { take, setState, signal: stop.signal });
    return () => {
      stop.abort();
      clearInterval(painter);
    };
  }, [api, environment, fields, isOn, text]);

  return state;
}

function shown(state: LiveState, arrived: readonly LogRow[]): LiveState {
  if (arrived.length === 0 && state.waiting === 0) return state;
  return { ...state, rows: withLiveRows(state.rows, arrived, rowsMax), waiting: 0 };
}

type Follower = {
  take: (events: readonly LiveEvent[]) => void;
  setState: (change: (before: LiveState) => LiveState) => void;
  signal: AbortSignal;
};

type TailQuery = { environment: "prod" | "test"; include_fields: string; filters?: string };

/** Reads the stream, and resumes after the last event when the connection breaks. A rejected request is not retried. */
async function follow(api: Api, query: TailQuery, { take, setState, signal }: Follower): Promise<void> {
  const reader = createEventReader();
  while (!signal.aborted) {
    try {
      const cursor = reader.cursor();
      const params = { query: { ...query, ...(cursor !== undefined && { last_event_id: cursor }) } };
      const { data } = await api.GET("/api/request-logs/live/", { params, parseAs: "stream", signal });
      setState((before) => ({ ...before, status: "open", error: undefined }));
      await readPieces(data, (piece) => take(reader.read(piece)));
      setState((before) => ({ ...before, status: "connecting" }));
    } catch (thrown) {
      if (signal.aborted) return;
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      const isFinal = error instanceof ApiError && error.status < 500 && error.status !== 429;
      setState((before) => ({ ...before, status: isFinal ? "failed" : "connecting", error }));
      if (isFinal) return;
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

async function readPieces(stream: ReadableStream<Uint8Array> | null | undefined, take: (piece: string) => void) {
  if (stream === null || stream === undefined) return;
  const pieces = stream.getReader();
  const decoder = new TextDecoder();
  for (let next = await pieces.read(); !next.done; next = await pieces.read()) {
    take(decoder.decode(next.value, { stream: true }));
  }
}
