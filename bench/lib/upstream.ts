import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anthropicStream, chatReply, openaiStream } from "./chat-bodies.ts";
import { hasCommand, pinToOtherCores } from "./cores.ts";
import { freePort } from "../../server/test/support/free-port.ts";

export type Upstream = { kind: "nginx" | "node"; url: string; stop(): Promise<void> };

/** A provider with constant responses: nginx if it is installed, because a server in Node would be the bottleneck. */
export async function startUpstream(folder: string): Promise<Upstream> {
  return hasCommand("nginx") ? startNginx(folder) : startNodeUpstream();
}

export async function startNodeUpstream(pacedTokens = 500): Promise<Upstream> {
  const child = fork(join(import.meta.dirname, "upstream-process.ts"), [String(pacedTokens)]);
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  pinToOtherCores(child.pid ?? 0);
  return { kind: "node", url, stop: () => ended(child) };
}

async function startNginx(folder: string): Promise<Upstream> {
  const port = await freePort();
  const root = join(folder, "nginx");
  mkdirSync(root);
  // nginx's worker may run as another user.
  chmodSync(folder, 0o755);
  writeFileSync(join(root, "reply"), chatReply());
  writeFileSync(join(root, "stream"), openaiStream(100));
  writeFileSync(join(root, "anthropic"), anthropicStream(100));
  // nginx rejects POST for a static file, so an error page of the same name is used.
  const location = (path: string, file: string, type: string): string =>
    `location ${path} { error_page 405 =200 /${file}; return 405; }\n` +
    `location = /${file} { internal; root ${root}; default_type ${type}; }\n`;
  const conf = `
    daemon off; worker_processes 1; pid ${root}/pid; error_log ${root}/error.log;
    events { worker_connections 4096; }
    http {
      access_log off; sendfile off; tcp_nodelay on; keepalive_requests 1000000000; client_max_body_size 50m;
      open_file_cache max=10; client_body_buffer_size 64k;
      client_body_temp_path ${root}/body; proxy_temp_path ${root}/p; fastcgi_temp_path ${root}/f;
      uwsgi_temp_path ${root}/u; scgi_temp_path ${root}/s;
      server {
        listen 127.0.0.1:${port};
        ${location("/stream/", "stream", "text/event-stream")}
        ${location("/anthropic/", "anthropic", "text/event-stream")}
        ${location("/", "reply", "application/json")}
      }
    }`;
  writeFileSync(join(root, "nginx.conf"), conf);
  const child = spawn("nginx", ["-p", root, "-c", join(root, "nginx.conf"), "-e", join(root, "error.log")], {
    stdio: "inherit",
  });
  pinToOtherCores(child.pid ?? 0);
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; (await fetch(url, { method: "POST" }).catch(() => undefined))?.status !== 200; tries += 1) {
    if (child.exitCode !== null || tries > 100) throw new Error("nginx did not start");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { kind: "nginx", url, stop: () => ended(child) };
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}
