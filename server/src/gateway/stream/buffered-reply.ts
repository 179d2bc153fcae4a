import { gatewayLimits } from "../limits.ts";
import type { UpstreamProblem } from "../providers/provider.ts";

const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Buffers an upstream's whole response, up to its size limit. */
export class BufferedReply {
  #chunks: Buffer[] = [];
  #length = 0;
  #hasContent = false;

  /** Returns a problem once the response is too large; the buffered bytes are then dropped. */
  add(bytes: Buffer, status: number): UpstreamProblem | undefined {
    this.#length += bytes.length;
    this.#hasContent ||= bytes.some((byte) => !blanks.has(byte));
    if (this.#length <= gatewayLimits.upstreamReplyBytes) {
      this.#chunks.push(bytes);
      return undefined;
    }
    this.#chunks = [];
    return { kind: "fault", status, message: "The provider's response is too large." };
  }

  /** Whether more than whitespace arrived: servers send blank lines to keep a connection alive. */
  get hasContent(): boolean {
    return this.#hasContent;
  }

  /** Most responses arrive in one piece. */
  read(): Buffer {
    const [first] = this.#chunks;
    return first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
  }
}
