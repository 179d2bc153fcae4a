import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Connector } from "../address-guard.ts";
import type { OutgoingRequest } from "./exchange-handler.ts";
import { OriginPool } from "./origin-pool.ts";
import { answer, send, connector, peer, poolTo, post, selfSigned, settle } from "./test-support.ts";

test("a request is written unchanged, and its response events come in order", async () => {
  let sent = "";
  const { pool, port } = await poolTo(({ text, socket }) => {
    sent += text;
    socket.write(answer("hello"));
  });
  const { over, events } = send(pool);
  expect(await over).toBe("hello");
  expect(events).toEqual(["200", "end"]);
  expect(sent).toBe(
    `POST /v1?a=b HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: keep-alive\r\nx-a: \xe9\r\ncontent-length: 2\r\n\r\n{}`,
  );
});

test("a body in pieces is sent completely, and content-length: 0 only with methods that need it", async () => {
  const texts: string[] = [];
  const { pool } = await poolTo(({ text, socket }) => {
    texts[0] = (texts[0] ?? "") + text;
    if (texts[0].endsWith("z") || text.startsWith("GET") || text.startsWith("POST /empty")) socket.write(answer("ok"));
  });
  const body = [Buffer.from("a"), Buffer.alloc(300_000, "b"), Buffer.from("z")];
  await send(pool, { method: "POST", path: "/", body }).over;
  expect(texts[0]).toContain("content-length: 300002\r\n\r\nabb");
  expect(texts[0]!.split("\r\n\r\n")[1]).toHaveLength(300_002);
  texts[0] = "";
  await send(pool, { method: "GET", path: "/" }).over;
  expect(texts[0]).not.toContain("content-length");
  texts[0] = "";
  await send(pool, { method: "POST", path: "/empty" }).over;
  expect(texts[0]).toContain("content-length: 0\r\n\r\n");
});

test.each<[what: string, request: OutgoingRequest]>([
  ["a value with a line end", { ...post, headers: { "x-a": "b\r\nx-c: d" } }],
  ["a value with NUL", { ...post, headers: { "x-a": "b\0" } }],
  ["a value beyond latin1", { ...post, headers: { "x-a": "\u20ac" } }],
  ["a name with a line end", { ...post, headers: { "x-a\r\nx-c": "d" } }],
  ["an empty name", { ...post, headers: { "": "d" } }],
  ["a length of its own", { ...post, headers: { "Content-Length": "1" } }],
  ["a coding of its own", { ...post, headers: { "transfer-encoding": "chunked" } }],
  ["a path with a line end", { ...post, path: "/ HTTP/1.1\r\nx: y" }],
  ["a path with a blank", { ...post, path: "/a b" }],
  ["a method with a blank", { ...post, method: "GET /" }],
])("a request with %s is refused before anything is sent", async (_what, request) => {
  const { pool, sockets } = await poolTo(() => undefined);
  const { over, events } = send(pool, request);
  expect(await over).toBe("BAD_REQUEST");
  await settle();
  expect(events).toEqual(["error"]);
  expect(sockets).toHaveLength(0);
});

describe("a connection", () => {
  test.each<[what: string, first: string, connections: number]>([
    ["is reused after a complete response", answer("a"), 1],
    ["is not reused after connection: close", answer("a", "connection: close\r\n"), 2],
    ["is not reused after an HTTP/1.0 response", "HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\na", 2],
    [
      "is not reused if there are bytes after the response",
      `${answer("a")}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged`,
      2,
    ],
  ])("%s", async (_what, first, connections) => {
    const { pool, sockets } = await poolTo(({ request, socket }) => socket.write(request === 1 ? first : answer("b")));
    expect(await send(pool).over).toBe("a");
    expect(await send(pool).over).toBe("b");
    expect(sockets).toHaveLength(connections);
  });

  test("that is idle and receives bytes or an end is not reused", async () => {
    for (const disturb of [
      (s: Socket) => s.write(answer("forged")),
      (s: Socket) => s.end(),
      (s: Socket) => s.resetAndDestroy(),
    ]) {
      const { pool, sockets } = await poolTo(({ connection, socket }) => socket.write(answer(`by ${connection}`)));
      expect(await send(pool).over).toBe("by 1");
      disturb(sockets[0]!);
      await settle();
      expect(await send(pool).over).toBe("by 2");
    }
  });

  test("is closed shortly before the peer's keep-alive timeout", async () => {
    const { pool, sockets } = await poolTo(({ socket }) => socket.write(answer("a", "keep-alive: timeout=2\r\n")));
    const began = performance.now();
    await send(pool).over;
    const closed = once(sockets[0]!, "close");
    sockets[0]!.resume();
    await closed;
    expect(performance.now() - began).toBeGreaterThan(900);
  });

  test("that closes while a request is on its way is replaced once; the next such failure is reported", async () => {
    const { pool, sockets } = await poolTo(({ request, socket }) => {
      if (request === 1 || request === 3) socket.write(answer(`to ${request}`));
      else socket.destroy();
    });
    expect(await send(pool).over).toBe("to 1");
    expect(await send(pool).over).toBe("to 3");
    const { over, events } = send(pool);
    expect(await over).toMatch(/CONNECTION_CLOSED|ECONNRESET/);
    expect(events).toEqual(["error"]);
    expect(sockets).toHaveLength(3);
  });

  test.each([
    ["immediately, while this process is busy, is replaced", 0, 150, "to 3"],
    ["late is not replaced", 1_000, 0, "CONNECTION_CLOSED"],
  ])("that ends during a request %s", async (_what, lateMs, busyMs, outcome) => {
    const { pool } = await poolTo(({ request, socket }) => {
      const end = (): void => {
        socket.destroy();
        for (const untilMs = performance.now() + busyMs; performance.now() < untilMs;);
      };
      if (request !== 2) socket.write(answer(`to ${request}`));
      else if (lateMs > 0) setTimeout(end, lateMs);
      else end();
    });
    expect(await send(pool).over).toBe("to 1");
    expect(await send(pool).over).toBe(outcome);
  });

  test("that closes after each response without announcing it fails none of many parallel calls", async () => {
    const received = new Map<string, number>();
    let open = 0;
    let most = 0;
    const maxConnections = 4;
    const server = createServer((socket) => {
      most = Math.max(most, (open += 1));
      socket.on("close", () => (open -= 1));
    });
    const { port } = await peer(({ text, socket }) => {
      if (socket.destroyed) return;
      const path = text.split(" ")[1] ?? "";
      received.set(path, (received.get(path) ?? 0) + 1);
      socket.write(answer(path));
      socket.destroy();
    }, server);
    const pool = new OriginPool(`http://127.0.0.1:${port}`, connector(), maxConnections);
    onTestFinished(() => pool.close());
    const caller = async (name: number): Promise<void> => {
      for (let call = 0; call < 50; call += 1) {
        const path = `/${name}/${call}`;
        expect(await send(pool, { ...post, path }).over).toBe(path);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, name) => caller(name)));
    expect([...received.values()].every((times) => times === 1)).toBe(true);
    expect(most).toBeLessThanOrEqual(maxConnections);
  });

  test("that is new and closes without a response is not replaced: the peer may have processed the request", async () => {
    const { pool, sockets } = await poolTo(({ socket }) => socket.end());
    expect(await send(pool).over).toBe("CONNECTION_CLOSED");
    expect(sockets).toHaveLength(1);
  });

  test("that closes after the first byte of a response is not replaced", async () => {
    const { pool, sockets } = await poolTo(({ request, socket }) => {
      if (request === 1) socket.write(answer("a"));
      else socket.end("H");
    });
    await send(pool).over;
    expect(await send(pool).over).toBe("CONNECTION_CLOSED");
    expect(sockets).toHaveLength(1);
  });

  test("is closed if the response arrives before the whole request was sent, and the response is used", async () => {
    const { pool, sockets } = await poolTo(({ connection, socket }) => {
      socket.pause();
      socket.write(answer(`by ${connection}`));
    });
    expect(await send(pool, { ...post, body: Buffer.alloc(32 * 2 ** 20) }).over).toBe("by 1");
    expect(await send(pool).over).toBe("by 2");
    expect(sockets).toHaveLength(2);
  });
});

describe("failures", () => {
  test.each([
    [
      "closes within the body",
      "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf",
      ["200", "error"],
      "CONNECTION_CLOSED",
    ],
    ["sends something other than HTTP", "SSH-2.0-x\r\n", ["error"], "BAD_ANSWER"],
    ["breaks its chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz", ["200", "error"], "BAD_ANSWER"],
  ])("of a peer that %s are reported once", async (_what, bytes, expected, code) => {
    const { pool } = await poolTo(({ socket }) => socket.end(bytes));
    const { over, events } = send(pool);
    expect(await over).toBe(code);
    await settle();
    expect(events).toEqual(expected);
  });

  test("to connect are reported, once to each call", async () => {
    const { port, sockets } = await peer(() => undefined);
    const connect: Connector = (_target, done) => void setImmediate(() => done(new Error("no way"), null));
    const pool = new OriginPool(`http://127.0.0.1:${port}`, connect);
    const calls = [send(pool), send(pool), send(pool)];
    expect(await Promise.all(calls.map(({ over }) => over))).toEqual(["no way", "no way", "no way"]);
    expect(calls.map(({ events }) => events)).toEqual([["error"], ["error"], ["error"]]);
    expect(sockets).toHaveLength(0);
  });

  test("of a handler are passed back to it, and the next call succeeds", async () => {
    const { pool } = await poolTo(({ socket }) => socket.write(answer("a")));
    const { over, events } = send(pool, post, () => {
      throw new Error("handler");
    });
    expect(await over).toBe("handler");
    expect(events).toEqual(["200", "error"]);
    expect(await send(pool).over).toBe("a");
  });
});

describe("abort", () => {
  test("before there is a connection removes the call; nothing is sent", async () => {
    const received: string[] = [];
    const { pool } = await poolTo(({ text, socket }) => {
      received.push(text);
      socket.write(answer("a"));
    });
    const { over, events, controller } = send(pool, { ...post, path: "/aborted" });
    controller.abort(new Error("enough"));
    expect(await over).toBe("enough");
    const connecting = send(pool, { ...post, path: "/connecting" });
    setImmediate(() => setImmediate(() => connecting.controller.abort(new Error("late"))));
    await connecting.over;
    expect(await send(pool).over).toBe("a");
    expect(events).toEqual(["error"]);
    expect(connecting.events.filter((word) => word !== "200")).toHaveLength(1);
    expect(received.some((text) => text.includes("/aborted"))).toBe(false);
  });

  test.each([
    ["before the head", ""],
    ["within the body", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"],
  ])("%s closes the connection and is reported once", async (_what, bytes) => {
    const requested = Promise.withResolvers<Socket>();
    const { pool } = await poolTo(({ socket }) => {
      socket.write(bytes);
      requested.resolve(socket);
    });
    const { over, events, controller, started } = send(pool);
    const socket = await requested.promise;
    if (bytes !== "") await started;
    controller.abort(new Error("enough"));
    controller.abort(new Error("again"));
    expect(await over).toBe("enough");
    if (!socket.closed) await once(socket, "close");
    expect(events.filter((word) => word !== "200")).toEqual(["error"]);
  });

  test("after the end has no effect", async () => {
    const { pool, sockets } = await poolTo(({ socket }) => socket.write(answer("a")));
    const { over, events, controller } = send(pool);
    await over;
    controller.abort(new Error("late"));
    expect(await send(pool).over).toBe("a");
    expect(events).toEqual(["200", "end"]);
    expect(sockets).toHaveLength(1);
  });
});

test("a paused response blocks its peer, and is complete after it is resumed", async () => {
  const size = 16 * 2 ** 20;
  const { pool, sockets } = await poolTo(({ socket }) => socket.write(answer("x".repeat(size))));
  const call = send(pool);
  await call.started;
  call.controller.pause();
  await settle();
  const read = call.read().length;
  await settle(50);
  expect(call.read()).toHaveLength(read);
  expect(sockets[0]!.writableLength).toBeGreaterThan(0);
  call.controller.resume();
  expect(await call.over).toHaveLength(size);
});

describe("a pool", () => {
  test("opens no more connections than allowed; the other calls wait in order", async () => {
    const paths: string[] = [];
    const { pool, sockets } = await poolTo(
      ({ text, socket }) => {
        paths.push(text.split(" ")[1] ?? "");
        setTimeout(() => socket.write(answer("a")), 5);
      },
      { maxConnections: 2 },
    );
    await Promise.all(Array.from({ length: 10 }, (_, n) => send(pool, { ...post, path: `/${n}` }).over));
    expect(sockets).toHaveLength(2);
    expect(paths).toEqual(Array.from({ length: 10 }, (_, n) => `/${n}`));
  });

  test("that retires finishes calls in progress, then is drained", async () => {
    const requested = Promise.withResolvers<Socket>();
    const { pool } = await poolTo(({ socket }) => requested.resolve(socket));
    const { over } = send(pool);
    const socket = await requested.promise;
    const drained = Promise.withResolvers<void>();
    pool.retire(() => drained.resolve());
    socket.write(answer("a"));
    expect(await over).toBe("a");
    await drained.promise;
    if (!socket.closed) await once(socket, "close");
  });

  test("that retires is not drained before a call whose connection closed was sent again", async () => {
    const order: string[] = [];
    const { pool } = await poolTo(({ request, socket }) => {
      order.push(`request ${request}`);
      if (request !== 2) return void socket.write(answer(`to ${request}`));
      pool.retire(() => order.push("drained"));
      return void socket.end();
    });
    await send(pool).over;
    expect(await send(pool).over).toBe("to 3");
    expect(order).toEqual(["request 1", "request 2", "request 3", "drained"]);
  });

  test("that is closed fails calls in progress and in the queue, and accepts no others", async () => {
    const requested = Promise.withResolvers<Socket>();
    const { pool } = await poolTo(({ socket }) => requested.resolve(socket), { maxConnections: 1 });
    const calls = [send(pool), send(pool)];
    await requested.promise;
    pool.close();
    calls.push(send(pool));
    expect(await Promise.all(calls.map(({ over }) => over))).toEqual(
      Array.from({ length: 3 }, () => "CONNECTION_CLOSED"),
    );
  });
});

test("TLS calls use the name in the address, and one connection", async () => {
  const { key, cert: ca } = selfSigned();
  const names: unknown[] = [];
  const server = createTlsServer({ key, cert: ca }, ({ servername }) => void names.push(servername));
  const body = "x".repeat(100_000);
  const { port, sockets } = await peer(({ text, socket }) => {
    if (text.includes("HTTP/1.1")) socket.write(answer(body));
  }, server);
  const pool = new OriginPool(`https://localhost:${port}`, connector({ ca }));
  onTestFinished(() => pool.close());
  expect(await send(pool).over).toBe(body);
  expect(await send(pool).over).toBe(body);
  expect(sockets).toHaveLength(1);
  expect(names).toEqual(["localhost"]);

  const wary = new OriginPool(`https://localhost:${port}`, connector());
  expect(await send(wary).over).toBe("DEPTH_ZERO_SELF_SIGNED_CERT");
});
