import { once } from "node:events";
import { createServer } from "node:net";

/** Rejects with the system's error if the address cannot be listened on. Checked before the rest of the startup. */
export async function canListen(address: { host: string; port: number }): Promise<void> {
  const server = createServer();
  server.listen(address);
  await once(server, "listening");
  server.close();
  await once(server, "close");
}
