import { limits } from "../limits.ts";
import type { UpstreamProblem } from "./providers/provider.ts";

/** A whole answer of an upstream as it comes in, within the bound for one. */
export class GatheredReply {
  #chunks: Buffer[] = [];
  #length = 0;

  /** What is wrong where it has become too large: then nothing more is kept. */
  add(bytes: Buffer, status: number): UpstreamProblem | undefined {
    this.#length += bytes.length;
    if (this.#length <= limits.upstreamReplyBytes) {
      this.#chunks.push(bytes);
      return undefined;
    }
    this.#chunks = [];
    return { kind: "fault", status, message: "The provider's answer is too large." };
  }

  /** Most come in one piece. */
  read(): Buffer {
    const [first] = this.#chunks;
    return first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
  }
}
