import { once } from "node:events";
import { createServer } from "node:net";

/** Rejects, with the error of the system, where nothing can listen: worth knowing before anything else is begun. */
export async function canListen(address: { host: string; port: number }): Promise<void> {
  const server = createServer();
  server.listen(address);
  await once(server, "listening");
  server.close();
  await once(server, "close");
}
