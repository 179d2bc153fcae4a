import { gatewayLimits } from "../limits.ts";
import type { UpstreamProblem } from "../providers/provider.ts";

const blanks: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** A whole answer of an upstream as it comes in, within the bound for one. */
export class GatheredReply {
  #chunks: Buffer[] = [];
  #length = 0;
  #hasContent = false;

  /** What is wrong where it has become too large: then nothing more is kept. */
  add(bytes: Buffer, status: number): UpstreamProblem | undefined {
    this.#length += bytes.length;
    this.#hasContent ||= bytes.some((byte) => !blanks.has(byte));
    if (this.#length <= gatewayLimits.upstreamReplyBytes) {
      this.#chunks.push(bytes);
      return undefined;
    }
    this.#chunks = [];
    return { kind: "fault", status, message: "The provider's answer is too large." };
  }

  /** Whether more came than blank lines, by which servers keep a connection alive. */
  get hasContent(): boolean {
    return this.#hasContent;
  }

  /** Most come in one piece. */
  read(): Buffer {
    const [first] = this.#chunks;
    return first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
  }
}
