import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { anthropicStream, chatReply, firstEvent, lastEvents, openaiStream, tokenEvent } from "./chat-bodies.ts";

/**
 * A provider on loopback, on bare sockets, so that it costs little compared with the measured process. By path: a whole
 * response, a stream in either format, in one write or in a write for each event, a stream at 50 tokens a second, and a
 * burst of 50 MB.
 */

const tokensPerS = 50;
const pacedTokens = Number(process.argv[2] ?? 500);

const whole = (contentType: string, body: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ncontent-length: ${body.length}\r\n\r\n`),
    body,
  ]);
const chunked = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const piece = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

const reply = whole("application/json", chatReply());
const plain = whole("text/event-stream", openaiStream(100));
const foreign = whole("text/event-stream", anthropicStream(100));
const firstPiece = chunked + piece(firstEvent + tokenEvent(" button"));
const tokenPiece = piece(tokenEvent(" button"));
const lastPiece = `${piece(lastEvents)}0\r\n\r\n`;

/**
 * One timer for all paced streams, which are spread over the time between two tokens. It compares with the clock,
 * because timers are late: missed tokens are sent immediately.
 */
const slots = Array.from({ length: 1000 / tokensPerS }, () => new Map<Socket, number>());
let tick = 0;
const beganMs = performance.now();
setInterval(() => {
  while (tick < Math.floor(performance.now() - beganMs)) sendTokens((tick += 1));
}, 1);

function sendTokens(at: number): void {
  const slot = slots[at % slots.length] ?? new Map<Socket, number>();
  for (const [socket, left] of slot) {
    if (left > 0) slot.set(socket, left - 1);
    else slot.delete(socket);
    socket.write(left > 0 ? tokenPiece : lastPiece);
  }
}

function pace(socket: Socket): void {
  socket.write(firstPiece);
  slots[tick % slots.length]?.set(socket, pacedTokens - 1);
}

/** Streams sent as fast as possible: one write per event, round-robin. */
const hasty = new Map<Socket, { events: readonly string[]; next: number }>();
let isTurning = false;
const eventsOf = (stream: Buffer): string[] =>
  stream
    .toString()
    .split(/(?<=\n\n)/)
    .map(piece);
const plainEvents = eventsOf(openaiStream(100));
const foreignEvents = eventsOf(anthropicStream(100));

function hasten(socket: Socket, events: readonly string[]): void {
  socket.write(chunked);
  hasty.set(socket, { events, next: 0 });
  if (!isTurning) setImmediate(turn);
  isTurning = true;
}

function turn(): void {
  for (const [socket, stream] of hasty) {
    socket.write(stream.events[stream.next] ?? "0\r\n\r\n");
    stream.next += 1;
    if (stream.next > stream.events.length) hasty.delete(socket);
  }
  isTurning = hasty.size > 0;
  if (isTurning) setImmediate(turn);
}

function burst(socket: Socket): void {
  const block = Buffer.from(piece(tokenEvent("x".repeat(16_000)).repeat(4)));
  let left = 50e6;
  const send = (): void => {
    while (left > 0 && !socket.destroyed) {
      left -= block.length;
      if (!socket.write(block)) {
        socket.once("drain", send);
        return;
      }
    }
    if (!socket.destroyed) socket.write(lastPiece);
  };
  socket.write(chunked);
  send();
}

function answer(socket: Socket, path: string): void {
  if (path.startsWith("/paced")) pace(socket);
  else if (path.startsWith("/burst")) burst(socket);
  else if (path.startsWith("/events")) hasten(socket, plainEvents);
  else if (path.startsWith("/foreign-events")) hasten(socket, foreignEvents);
  else socket.write(path.startsWith("/stream") ? plain : path.startsWith("/anthropic") ? foreign : reply);
}

const server = createServer((socket) => {
  socket.setNoDelay(true);
  socket.on("error", () => undefined);
  socket.on("close", () => {
    hasty.delete(socket);
    for (const slot of slots) slot.delete(socket);
  });
  let pending = "";
  socket.on("data", (bytes: Buffer) => {
    pending += bytes.toString("latin1");
    for (;;) {
      const headEnd = pending.indexOf("\r\n\r\n");
      if (headEnd === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(pending.slice(0, headEnd))?.[1] ?? 0);
      if (pending.length < headEnd + 4 + length) return;
      answer(socket, pending.slice(pending.indexOf(" ") + 1, headEnd));
      pending = pending.slice(headEnd + 4 + length);
    }
  });
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
