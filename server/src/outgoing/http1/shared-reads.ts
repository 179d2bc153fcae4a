import type { OnReadOpts, Socket } from "node:net";

const bufferBytes = 64 * 1024;

/**
 * Socket options with which all sockets read into one buffer: each read is processed before the next begins. Unlike the
 * default, no buffer is allocated per read, most of which would be nearly empty, and `pause` stops reading immediately
 * instead of after 64 KiB more. Sockets emit `data` as usual, with bytes that the listener owns.
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
