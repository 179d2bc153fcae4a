import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";

/** The least work that a proxy in Node can do: it neither parses nor stores what it forwards. */

const pool = new Pool(process.argv[2] ?? "", { connections: 256, headersTimeout: 0, bodyTimeout: 0 });

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const headers = { "content-type": "application/json", authorization: "Bearer upstream" };
    const body = Buffer.concat(chunks);
    pool.dispatch(
      { method: "POST", path: request.url ?? "/", headers, body },
      {
        onRequestStart: (controller) =>
          void response.on("close", () => response.writableEnded || controller.abort(disconnected)),
        onResponseStart(_controller, status, upstream) {
          const length = upstream["content-length"];
          const type = String(upstream["content-type"]);
          response.writeHead(status, { "content-type": type, ...(length && { "content-length": String(length) }) });
        },
        onResponseData(controller, bytes) {
          if (response.write(bytes)) return;
          controller.pause();
          response.once("drain", () => controller.resume());
        },
        onResponseEnd: () => void response.end(),
        onResponseError: () => void response.destroy(),
      },
    );
  });
});
const disconnected = new Error("the client disconnected");

server.listen(0, "127.0.0.1");
await once(server, "listening");
process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
