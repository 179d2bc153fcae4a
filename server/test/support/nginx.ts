import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";

export const hasNginx = spawnSync("nginx", ["-v"]).status === 0;

/**
 * Runs nginx with a site that listens on the given address.
 * @param folder a folder that users other than root may read: if root starts nginx, it runs as another user
 */
export async function startNginx(
  folder: string,
  name: string,
  siteAt: (address: string) => string,
): Promise<{ url: string; nginx: ChildProcess }> {
  const address = `127.0.0.1:${await freePort()}`;
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${name}-${kind};`,
  );
  const file = join(folder, `${name}.conf`);
  writeFileSync(
    file,
    `daemon off; pid ${folder}/${name}.pid; error_log stderr; events {}
     http { access_log off; ${temporary.join(" ")}\n${siteAt(address)}\n}`,
  );
  const nginx = spawn("nginx", ["-c", file, "-e", "stderr"], { stdio: "ignore" });
  const url = `http://${address}`;
  for (let n = 0; n < 100; n += 1) {
    if (await fetch(url).catch(() => undefined)) break;
    await sleep(50);
  }
  return { url, nginx };
}
