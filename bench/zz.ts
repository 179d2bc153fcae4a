import { readdirSync, readFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { benchFolder } from "./lib/bench-server.ts";
import { chatRequest } from "./lib/chat-bodies.ts";
import { startBareProxy, startSpanway } from "./lib/contenders.ts";
import { runLoad } from "./lib/load.ts";
import { startUpstream } from "./lib/upstream.ts";
function threads(pid: number): Map<string, number> {
  const out = new Map<string, number>();
  for (const tid of readdirSync(`/proc/${pid}/task`)) {
    try {
      const s = readFileSync(`/proc/${pid}/task/${tid}/stat`, "utf8");
      const name = tid === String(pid) ? "main" : s.slice(s.indexOf("(") + 1, s.lastIndexOf(")"));
      const f = s.slice(s.lastIndexOf(")") + 2).split(" ");
      out.set(name, (out.get(name) ?? 0) + (Number(f[11]) + Number(f[12])) / 100);
    } catch {}
  }
  return out;
}
export async function run(o: Map<string, string>): Promise<object> {
  const seconds = Number(o.get("seconds") ?? 6);
  const folder = benchFolder();
  const upstream = await startUpstream(folder.path);
  const c = o.get("proxy") === "yes" ? await startBareProxy(upstream) : await startSpanway(upstream, folder.path, o.get("env") ? JSON.parse(o.get("env")!) : {});
  const load = { url: c.url, headers: c.headers, body: chatRequest("gpt-4o", false) };
  const lanes = Number(o.get("connections") ?? 32);
  await runLoad({ ...load, connections: lanes, seconds: 3 }, folder.path);
  for (let i = 0; i < Number(o.get("rounds") ?? 2); i++) {
    const before = threads(c.pid);
    const perf = o.get("perf") && i === 0 ? spawn("perf", ["record", "-F", "999", "-g", "-o", o.get("perf")!, "-p", String(c.pid), "--", "sleep", String(seconds - 1)], { stdio: "ignore" }) : undefined;
    const r = await runLoad({ ...load, connections: lanes, seconds }, folder.path);
    await new Promise((r) => setTimeout(r, Number(o.get("after") ?? 0)));
    const after = threads(c.pid);
    const d = [...after].map(([k, v]) => [k, Math.round(((v - (before.get(k) ?? 0)) * 1e6) / r.requests)] as const).filter(([, v]) => v > 0).sort((a, b) => b[1] - a[1]);
    console.log(Math.round(r.perS), "p50", r.p50Ms, "fail", r.failures, "total", d.reduce((s, [, v]) => s + v, 0), d.map(([k, v]) => `${k}:${v}`).join(" "));
    if (perf) await new Promise((r) => setTimeout(r, 1500));
  }
  await c.stop();
  await upstream.stop();
  folder.remove();
  return {};
}
