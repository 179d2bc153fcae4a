import type { OnReadOpts, Socket } from "node:net";

const bufferBytes = 64 * 1024;

/**
 * What sockets are opened with that all read into one buffer: each read is over before the next begins. Other than by default, no
 * buffer is made for each of them, of which most would be a thousandth full, and `pause` stops reading at once instead of after
 * 64 KiB more. Sockets emit `data` as ever, with bytes that are the listener's own.
 */
export function sharedReads(): OnReadOpts {
  return {
    buffer: Buffer.allocUnsafeSlow(bufferBytes),
    callback(this: Socket, bytes: number, buffer: Uint8Array): boolean {
      this.emit("data", Buffer.from(buffer.subarray(0, bytes)));
      return true;
    },
  };
}
