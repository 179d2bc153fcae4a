import type { OutgoingHttpHeaders } from "node:http";

/** What an answer is written to: Node's `ServerResponse`, or that of the plain lane. */
export type ResponseWriter = {
  readonly statusCode: number;
  readonly headersSent: boolean;
  /** All of the answer was handed to the system. */
  readonly writableFinished: boolean;
  readonly destroyed: boolean;
  setHeader(name: string, value: string): unknown;
  getHeaderNames(): string[];
  removeHeader(name: string): unknown;
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  flushHeaders(): void;
  /** False when the reader is slower than the writer: `drain` tells when it has caught up. */
  write(data: string | Uint8Array): boolean;
  end(data?: string | Uint8Array): unknown;
  destroy(): unknown;
  /** `close` comes once, when the answer is out or its connection gone. */
  once(event: "close" | "drain", listener: () => void): unknown;
};
