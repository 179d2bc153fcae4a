import { useCallback, useRef, useState } from "react";
import { useApi, useEnvironment } from "../../api/use-api.ts";
import { filtersBody } from "./queries.ts";
import type { Filters } from "../../query-bar/to-filters.ts";

export const exportFormats = ["jsonl", "csv", "parquet"] as const;
export type ExportFormat = (typeof exportFormats)[number];

export type ExportState = { bytes: number; isRunning: boolean; error: Error | undefined };

type ExportRequest = {
  filters: Filters;
  window: { start: string; end: string };
  format: ExportFormat;
  fields?: string;
};

const idle: ExportState = { bytes: 0, isRunning: false, error: undefined };

/** Downloads an export and reports its progress. An interrupted download is an error and saves no file. */
export function useExport() {
  const api = useApi();
  const environment = useEnvironment();
  const [state, setState] = useState(idle);
  const stop = useRef<AbortController>(undefined);
  const last = useRef<ExportRequest>(undefined);
  const start = useCallback(
    async (request: ExportRequest): Promise<void> => {
      const { filters, window, format, fields } = request;
      last.current = request;
      stop.current?.abort();
      const controller = new AbortController();
      stop.current = controller;
      setState({ ...idle, isRunning: true });
      try {
        const times = { start_time: window.start, end_time: window.end, environment };
        const { data, response } = await api.POST("/api/request-logs/export/", {
          params: { query: { ...times, format, ...(fields !== undefined && { fields }) } },
          body: filtersBody(filters),
          parseAs: "stream",
          signal: controller.signal,
        });
        const blob = await collect(data, response.headers.get("content-type") ?? "", (bytes) =>
          setState((before) => ({ ...before, bytes })),
        );
        save(blob, nameIn(response.headers.get("content-disposition")) ?? `spans.${format}`);
        setState((before) => ({ ...before, isRunning: false }));
      } catch (thrown) {
        if (controller.signal.aborted) return;
        setState({ ...idle, error: thrown instanceof Error ? thrown : new Error(String(thrown)) });
      }
    },
    [api, environment],
  );
  const cancel = useCallback(() => {
    stop.current?.abort();
    setState(idle);
  }, []);
  const retry = useCallback(() => {
    if (last.current !== undefined) void start(last.current);
  }, [start]);
  return { state, start, cancel, retry };
}

export type Exporter = ReturnType<typeof useExport>;

/** Collects a blob from chunks; the browser stores a large one on disk. */
async function collect(
  stream: ReadableStream<Uint8Array<ArrayBuffer>> | null | undefined,
  type: string,
  onProgress: (bytes: number) => void,
): Promise<Blob> {
  let bytes = 0;
  const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, controller) {
      bytes += piece.byteLength;
      onProgress(bytes);
      controller.enqueue(piece);
    },
  });
  const body = stream?.pipeThrough(counter) ?? null;
  return await new Response(body, { headers: { "content-type": type } }).blob();
}

function nameIn(disposition: string | null): string | undefined {
  return /filename="([\w.-]+)"/.exec(disposition ?? "")?.[1];
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
