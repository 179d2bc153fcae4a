import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Row } from "../../server/test/support/test-client.ts";
import { filesBelow, hook, openEditor, recorded, script, startPeer, type Editor } from "./test-support.ts";

/** In every case, the editor gets its response in time, and no data goes to a wrong address. */

const downUrl = "http://127.0.0.1:9/api";

let editor: Editor;
beforeEach(() => {
  editor = openEditor();
});
afterEach(() => editor.close());

describe("input", () => {
  test.each(["../../../outside", "..", "a\\..\\b", "x".repeat(300), "weiß 🚀 $(id)"])(
    "the id %s names no file",
    async (id) => {
      const ids = { conversation: id, generation: id };
      await editor.runAll([hook("beforeSubmitPrompt", ids), hook("afterShellExecution", ids)]);
      expect(readdirSync(editor.folder)).toEqual(["a"]);
      expect(readdirSync(join(editor.folder, "a"))).toEqual(["state"]);
      expect(readdirSync(editor.state)).toEqual([expect.stringMatching(/^[0-9a-f]{32}-[0-9a-f]{32}$/)]);
    },
  );

  test.each<[what: string, input: string]>([
    ["nothing", ""],
    ["half a document", '{"hook_event_name":"stop",'],
    ["no object", "null"],
    ["a list", "[]"],
    ["no text at all", "\u0000\u0001"],
    ["more than is read", `{"prompt":"${"x".repeat(33 * 1024 * 1024)}"}`],
  ])("%s lets a prompt pass without output", async (_what, input) => {
    expect(await editor.run(input)).toMatchObject({ code: 0, stdout: '{"continue":true}\n', stderr: "" });
  });

  test.each<[what: string, members: Row]>([
    ["no ids", { conversation_id: undefined, generation_id: undefined }],
    ["ids that are no text", { conversation_id: 7, generation_id: {} }],
    ["an event that is none", { hook_event_name: "afterTabFileEdit" }],
    ["an event that is a property of every object", { hook_event_name: "constructor" }],
  ])("with %s is let pass, and sends nothing", async (_what, members) => {
    const peer = await startPeer(200);
    editor.env["SPANWAY_BASE_URL"] = peer.url;
    const runs = await Promise.all(recorded.slice(-3).map((payload) => editor.run({ ...payload, ...members })));
    await peer.stop();
    expect(runs).toMatchObject(runs.map(() => ({ code: 0, stdout: "{}\n", stderr: "" })));
    expect(peer.requests).toEqual([]);
  });

  test("with members of other types is let pass, and sends spans", async () => {
    const peer = await startPeer(200);
    editor.env["SPANWAY_BASE_URL"] = peer.url;
    const odd = {
      prompt: 1,
      text: { a: 1 },
      command: [],
      edits: "x",
      tool_name: null,
      duration: "long",
      duration_ms: -1,
    };
    const payloads = recorded.map((payload) => ({
      ...payload,
      ...odd,
      model: 4,
      workspace_roots: "x",
      attachments: 3,
    }));
    await editor.runAll(payloads);
    await peer.stop();
    expect(peer.spanIds().flat()).toHaveLength(8);
  });

  test("that never ends: the editor gets its response within the limit", async () => {
    const { ms, ...outcome } = await editor.run(undefined);
    expect(outcome).toEqual({ code: 0, stdout: '{"continue":true}\n', stderr: "" });
    expect(ms).toBeLessThan(5_000);
  });
});

describe("the environment", () => {
  test.each<[what: string, changes: Record<string, string>]>([
    ["the flag is missing", { TRACE_TO_SPANWAY: "" }],
    ["the flag says no", { TRACE_TO_SPANWAY: "false" }],
    ["there is no key", { SPANWAY_API_KEY: "" }],
    ["the address is none", { SPANWAY_BASE_URL: "nowhere" }],
  ])("nothing is sent or stored if %s", async (_what, changes) => {
    const peer = await startPeer(200);
    Object.assign(editor.env, { SPANWAY_BASE_URL: peer.url }, changes);
    await editor.runAll([...recorded.slice(0, 2), ...recorded.slice(-2)]);
    await peer.stop();
    expect([peer.requests, existsSync(editor.state)]).toEqual([[], false]);
  });

  test.each(["RESPAN", "KEYWORDSAI"])("may use the variable names of %s", async (prefix) => {
    const peer = await startPeer(200);
    const { env, state } = editor;
    editor.env = {
      SPANWAY_HOOK_STATE_DIR: state,
      SPANWAY_API_KEY: env["SPANWAY_API_KEY"] ?? "",
      SPANWAY_BASE_URL: downUrl,
      [`TRACE_TO_${prefix}`]: "TRUE",
      [`${prefix}_API_KEY`]: "legacy_key",
      [`${prefix}_BASE_URL`]: `${peer.url}/`,
    };
    await editor.runAll(recorded.slice(1, 2));
    await peer.stop();
    expect(peer.requests).toMatchObject([{ path: "/api/v1/traces/ingest", key: "Bearer legacy_key" }]);
  });

  test("sends a key only to the address of the same name prefix", async () => {
    const [own, other] = [await startPeer(200), await startPeer(200)];
    Object.assign(editor.env, { SPANWAY_BASE_URL: own.url });
    Object.assign(editor.env, { TRACE_TO_RESPAN: "true", RESPAN_API_KEY: "other", RESPAN_BASE_URL: other.url });
    await editor.runAll(recorded.slice(1, 2));
    // Without its flag, the key of this name is not sent.
    Object.assign(editor.env, { TRACE_TO_SPANWAY: "" });
    await editor.runAll(recorded.slice(1, 2));
    await Promise.all([own.stop(), other.stop()]);
    expect(own.requests.map(({ key }) => key)).toEqual([`Bearer ${editor.env["SPANWAY_API_KEY"]}`]);
    expect(other.requests.map(({ key }) => key)).toEqual(["Bearer other"]);
  });

  test("can enable a log, which contains no text and no key", async () => {
    const peer = await startPeer(200);
    Object.assign(editor.env, { SPANWAY_HOOK_DEBUG: "true", SPANWAY_BASE_URL: peer.url });
    await editor.runAll(recorded);
    await peer.stop();
    const log = readFileSync(join(editor.state, "hook.log"), "utf8");
    expect(log).toMatch(/afterShellExecution\n.* 1 spans: 200\n/);
    expect(log).not.toMatch(/discount|npm|SHOP|hook_key/);
  });
});

describe("a server", () => {
  test("that hangs delays the editor once, and no longer than the limit", async () => {
    const peer = await startPeer("never");
    editor.env["SPANWAY_BASE_URL"] = peer.url;
    const ids = { conversation: "hangs", generation: "g" };
    const prompt = await editor.run(hook("beforeSubmitPrompt", ids));
    const [first, second] = [
      await editor.run(hook("afterShellExecution", ids)),
      await editor.run(hook("afterShellExecution", ids)),
    ];
    const last = await editor.run(hook("stop", ids, { status: "aborted" }));
    await peer.stop();
    expect([prompt, first, second, last].map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, '{"continue":true}\n'],
      [0, "{}\n"],
      [0, "{}\n"],
      [0, "{}\n"],
    ]);
    expect(peer.spanIds()).toEqual([["g_shell_1"], ["g_shell_1", "g_shell_2", "g_root"]]);
    expect(Math.max(first.ms, last.ms)).toBeLessThan(5_000);
  });

  test("with a host name gets spans too, and delays the editor no longer", async () => {
    const [peer, hanging] = [await startPeer(200), await startPeer("never")];
    const ids = { conversation: "named", generation: "g" };
    editor.env["SPANWAY_BASE_URL"] = peer.url.replace("127.0.0.1", "localhost");
    await editor.runAll([hook("afterShellExecution", ids)]);
    editor.env["SPANWAY_BASE_URL"] = hanging.url.replace("127.0.0.1", "localhost");
    const { ms, ...outcome } = await editor.run(hook("afterShellExecution", ids));
    await editor.runAll([hook("afterShellExecution", ids)]);
    await Promise.all([peer.stop(), hanging.stop()]);
    expect(outcome).toEqual({ code: 0, stdout: "{}\n", stderr: "" });
    expect(ms).toBeLessThan(5_000);
    expect([peer.spanIds(), hanging.spanIds()]).toEqual([[["g_shell_1"]], [["g_shell_2"]]]);
  });

  test.each([
    [401, []],
    [503, ["g_shell_1"]],
    [429, ["g_shell_1"]],
    [302, []],
  ])("that responds %d gets a retry only if that may help", async (status, again) => {
    const peer = await startPeer(status);
    editor.env["SPANWAY_BASE_URL"] = peer.url;
    const ids = { conversation: "answers", generation: "g" };
    await editor.runAll([hook("afterShellExecution", ids), hook("afterAgentResponse", ids)]);
    await peer.stop();
    expect(peer.spanIds()).toEqual([["g_shell_1"], [...again, "g_root"]]);
  });
});

describe("a state folder", () => {
  test.each([
    ["is a file", script],
    ["is below a file", join(script, "state")],
    ["is where the system makes none", "/proc/none/state"],
  ])("that %s: the editor gets its response within the limit", async (_what, folder) => {
    const { mode } = statSync(script);
    Object.assign(editor.env, { SPANWAY_BASE_URL: downUrl, SPANWAY_HOOK_STATE_DIR: folder });
    const { ms, ...outcome } = await editor.run(hook("beforeSubmitPrompt", { conversation: "c", generation: "g" }));
    expect(outcome).toEqual({ code: 0, stdout: '{"continue":true}\n', stderr: "" });
    expect(ms).toBeLessThan(5_000);
    expect(statSync(script).mode).toBe(mode);
  });

  test("holds a bounded amount of unsent spans", async () => {
    editor.env["SPANWAY_BASE_URL"] = downUrl;
    const ids = { conversation: "bounded", generation: "g" };
    const sizes = () =>
      filesBelow(editor.state).flatMap((path) =>
        path.endsWith("_1") || path.endsWith("_2") ? [statSync(path).size] : [],
      );
    await editor.runAll([hook("afterShellExecution", ids)]);
    expect(sizes()).toEqual([expect.toSatisfy((size: number) => size > 300)]);
    const first = filesBelow(editor.state).find((path) => path.endsWith("shell_1")) ?? "";
    writeFileSync(first, JSON.stringify({ output: "x".repeat(4 * 1024 * 1024) }));
    await editor.runAll([hook("afterShellExecution", ids)]);
    expect(sizes().sort((a, b) => a - b)).toEqual([0, expect.any(Number)]);
  });

  test("drops turns without an end after a day", async () => {
    await editor.run(hook("beforeSubmitPrompt", { conversation: "abandoned", generation: "g" }));
    const [turn = ""] = readdirSync(editor.state);
    const yesterday = Date.now() / 1000 - 25 * 60 * 60;
    utimesSync(join(editor.state, turn), yesterday, yesterday);
    await editor.run(hook("beforeSubmitPrompt", { conversation: "another", generation: "g" }));
    expect(readdirSync(editor.state)).toHaveLength(1);
    expect(existsSync(join(editor.state, turn))).toBe(false);
  });
});

test("the example of hooks.json has every hook of the table, and this script", () => {
  const { hooks } = JSON.parse(readFileSync(new URL("hooks.json", import.meta.url), "utf8")) as {
    hooks: Record<string, Row[]>;
  };
  const events = new Set(recorded.map(({ hook_event_name }) => hook_event_name));
  expect(new Set(Object.keys(hooks))).toEqual(events);
  for (const [entry] of Object.values(hooks)) expect(entry?.["command"]).toBe("node ./hooks/spanway-hook.mjs");
});
