import type { OutgoingHttpHeaders } from "node:http";

/** The target of a response: Node's `ServerResponse`, or that of the fast path. */
export type ResponseWriter = {
  readonly statusCode: number;
  readonly headersSent: boolean;
  /** The whole response was passed to the operating system. */
  readonly writableFinished: boolean;
  readonly destroyed: boolean;
  setHeader(name: string, value: string): unknown;
  getHeaderNames(): string[];
  removeHeader(name: string): unknown;
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  flushHeaders(): void;
  /** Returns false if the reader is slower than the writer; `drain` is emitted when it has caught up. */
  write(data: string | Uint8Array): boolean;
  end(data?: string | Uint8Array): unknown;
  destroy(): unknown;
  /** `close` is emitted once, when the response was sent or its connection was lost. */
  once(event: "close" | "drain", listener: () => void): unknown;
};
