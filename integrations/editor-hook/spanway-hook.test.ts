import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { settle } from "../../server/test/support/spans.ts";
import { startTestApp, testKeys, type TestApp } from "../../server/test/support/test-app.ts";
import type { Row } from "../../server/test/support/test-client.ts";
import { getTrace, retrieveTrace, type Node } from "../../server/test/support/traces.ts";
import { filesBelow, hook, openEditor, recorded, script, startPeer, type Editor } from "./test-support.ts";

/** The spans of hooks on a server, read back through its API. */

let app: TestApp;
let editor: Editor;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.stop());
beforeEach(() => {
  editor = openEditor();
  Object.assign(editor.env, { SPANWAY_API_KEY: testKeys.prod, SPANWAY_BASE_URL: `${app.url}/api` });
});
afterEach(() => editor.close());

async function traceOf(conversation: string, generation: string): Promise<Row & { span_tree: Node[] }> {
  await settle(app.prod);
  return retrieveTrace(app.prod, `${conversation}_${generation}`);
}

describe("a recorded turn", () => {
  test("becomes a trace with the prompt, the response and every step", async () => {
    const beforeMs = Date.now();
    await editor.runAll(recorded);
    const conversation = String(recorded[0]?.["conversation_id"]);
    const generation = String(recorded[0]?.["generation_id"]);
    const trace = await traceOf(conversation, generation);

    expect(trace.span_tree).toHaveLength(1);
    const [root] = trace.span_tree as [Node];
    expect(root).toMatchObject({
      span_unique_id: `${generation}_root`,
      span_parent_id: null,
      span_name: "Agent turn",
      log_type: "agent",
      span_workflow_name: `editor_${conversation}`,
      thread_identifier: `editor_${conversation}`,
      model: "claude-4-sonnet",
      input: "The total of an order ignores the discount. Fix it and run the tests.",
      output: "The total now takes the discount off. All 4 tests pass.",
      prompt_tokens: 23_666,
      completion_tokens: 205,
      status: "success",
      metadata: {
        editor: "cursor",
        editor_version: "2.4.22",
        workspace: "shop",
        attachments: 1,
        stop_status: "completed",
      },
    });
    const { latency, start_time } = root as Node & { latency: number; start_time: string };
    expect(latency).toBeGreaterThan(0);
    expect(latency).toBeLessThan((Date.now() - beforeMs) / 1000);
    expect(Date.parse(start_time)).toBeGreaterThanOrEqual(beforeMs - 50);

    const rows = root.children.map((node) => [
      node.span_unique_id,
      node["log_type"],
      node["span_name"],
      node["latency"],
    ]);
    expect(rows.sort((a, b) => String(a[0]).localeCompare(String(b[0])))).toEqual([
      [`${generation}_file_1`, "tool", "Edit: order.ts", 0],
      [`${generation}_mcp_1`, "tool", "MCP: get_ticket", 0.312],
      [`${generation}_mcp_2`, "tool", "MCP: close_ticket", 0.095],
      [`${generation}_shell_1`, "tool", "Shell: npm test -- order", 2.345],
      [`${generation}_thinking_1`, "generation", "Thinking 1", 5],
      [`${generation}_thinking_2`, "generation", "Thinking 2", 0.8],
    ]);
    for (const child of root.children) {
      expect(child).toMatchObject({
        span_workflow_name: `editor_${conversation}`,
        thread_identifier: null,
        children: [],
      });
    }
    const step = (name: string) => root.children.find((node) => node.span_unique_id === `${generation}_${name}`);
    expect(step("thinking_1")?.["output"]).toContain("I should look up the ticket first");
    expect(step("shell_1")).toMatchObject({
      input: '{"command":"npm test -- order"}',
      output: " Tests  4 passed (4)\n",
    });
    expect(JSON.parse(String(step("file_1")?.["input"]))).toMatchObject({
      file_path: "/projects/shop/src/order.ts",
      edits: [{ old_string: "return sum(lines);" }, { new_string: "lines: Line[], discount = 0" }],
    });
    expect(step("mcp_1")).toMatchObject({ input: '{"id":"SHOP-42"}', status: "success" });
    expect(step("mcp_2")).toMatchObject({ status: "failed", error_message: "Permission denied." });

    const threads = await app.prod.post("/api/log_threads/", {
      filters: { thread_identifier: { value: [`editor_${conversation}`] } },
    });
    expect(threads.json).toMatchObject({ count: 1 });
  });

  test("leaves no text and no key on disk", async () => {
    for (const payload of recorded.slice(0, -1)) await editor.run(payload);
    expect(editor.textOnDisk()).toContain("ignores the discount");
    const open = filesBelow(editor.state).filter((path) => (statSync(path).mode & 0o077) !== 0);
    expect([open, statSync(editor.state).mode & 0o777]).toEqual([[], 0o700]);
    expect(editor.textOnDisk()).not.toContain(testKeys.prod);
    await editor.run(recorded.at(-1));
    expect(editor.textOnDisk()).not.toMatch(/discount|npm test|SHOP-42/);
  });

  test("sends no e-mail address and no path of the workspace", async () => {
    const peer = await startPeer(200);
    editor.env["SPANWAY_BASE_URL"] = peer.url;
    await editor.runAll(recorded.filter(({ hook_event_name }) => hook_event_name !== "afterFileEdit"));
    await peer.stop();
    expect(peer.requests.length).toBeGreaterThan(5);
    expect(JSON.stringify(peer.requests)).not.toMatch(/example\.com|\/projects/);
  });
});

describe("turns with unusual events", () => {
  test("of several messages contain all of them, in order", async () => {
    const ids = { conversation: "several", generation: "g" };
    await editor.runAll([
      hook("beforeSubmitPrompt", ids),
      hook("afterAgentResponse", ids, { text: "First I look." }),
      hook("afterShellExecution", ids),
      hook("afterAgentResponse", ids, { text: "Then I am done." }),
    ]);
    const [root] = (await traceOf("several", "g")).span_tree;
    expect(root?.["output"]).toBe("First I look.\n\nThen I am done.");
    expect(root?.children).toHaveLength(1);
  });

  test.each([
    ["aborted", 499],
    ["error", 500],
  ])("%s: the trace has a failed root with the prompt", async (status, status_code) => {
    const ids = { conversation: `stopped-${status}`, generation: "g" };
    await editor.runAll([
      hook("beforeSubmitPrompt", ids),
      hook("afterShellExecution", ids),
      hook("stop", ids, { status }),
    ]);
    const { span_tree } = await traceOf(ids.conversation, "g");
    expect(span_tree).toHaveLength(1);
    expect(span_tree[0]).toMatchObject({
      span_unique_id: "g_root",
      status: "failed",
      status_code,
      error_message: expect.stringContaining(status),
      input: expect.stringContaining("discount"),
      output: null,
      children: [{ span_unique_id: "g_shell_1" }],
    });
  });

  test("without a generation id are stopped by their conversation id", async () => {
    const ids = { conversation: "unnamed", generation: "g" };
    await editor.runAll([
      hook("beforeSubmitPrompt", ids),
      hook("stop", { conversation: "unnamed" }, { status: "aborted" }),
    ]);
    expect((await traceOf("unnamed", "g")).span_tree[0]).toMatchObject({ status: "failed" });
    expect(editor.textOnDisk()).not.toContain("discount");
  });

  test("without a prompt hook still have a root over their steps", async () => {
    const ids = { conversation: "promptless", generation: "g" };
    await editor.runAll([hook("afterAgentThought", ids), hook("afterAgentResponse", ids), hook("stop", ids)]);
    const [root] = (await traceOf("promptless", "g")).span_tree;
    expect(root).toMatchObject({ input: null, children: [{ span_unique_id: "g_thinking_1" }] });
    expect(root?.["latency"]).toBeGreaterThanOrEqual(5);
  });

  test("wait at their end for a response that is reported at the same time", async () => {
    const ids = { conversation: "race", generation: "g" };
    await editor.run(hook("beforeSubmitPrompt", ids));
    await Promise.all([editor.run(hook("stop", ids)), editor.run(hook("afterAgentResponse", ids))]);
    expect((await traceOf("race", "g")).span_tree[0]).toMatchObject({
      input: expect.stringContaining("discount"),
      output: expect.stringContaining("All 4 tests pass"),
    });
  });

  test("number a step correctly that arrives after the end of the turn", async () => {
    const ids = { conversation: "late", generation: "g" };
    const begin = [hook("beforeSubmitPrompt", ids), hook("afterShellExecution", ids), hook("afterAgentResponse", ids)];
    await editor.runAll([...begin, hook("stop", ids), hook("afterShellExecution", ids, { command: "late" })]);
    const [root] = (await traceOf("late", "g")).span_tree;
    expect(root?.children.map(({ span_unique_id }) => span_unique_id).sort()).toEqual(["g_shell_1", "g_shell_2"]);
    expect(root).toMatchObject({ input: expect.stringContaining("discount") });
  });

  test("accept hooks that run at the same time", async () => {
    const ids = { conversation: "parallel", generation: "g" };
    await editor.run(hook("beforeSubmitPrompt", ids));
    const commands = Array.from({ length: 8 }, (_, n) => `echo ${n}`);
    await Promise.all(commands.map((command) => editor.run(hook("afterShellExecution", ids, { command }))));
    await editor.run(hook("afterAgentResponse", ids));
    const [root] = (await traceOf("parallel", "g")).span_tree;
    const ran = root?.children.map((node) => (JSON.parse(String(node["input"])) as Row)["command"]);
    expect(ran?.sort()).toEqual(commands);
    const spanIds = root?.children.map(({ span_unique_id }) => span_unique_id).sort();
    expect(spanIds).toEqual(commands.map((_, n) => `g_shell_${n + 1}`));
  });
});

describe("input", () => {
  test("keeps its ids in the sent spans", async () => {
    const ids = { conversation: "../conversation", generation: "../g" };
    await editor.runAll([hook("beforeSubmitPrompt", ids), hook("afterAgentResponse", ids)]);
    expect((await traceOf(ids.conversation, ids.generation)).span_tree).toHaveLength(1);
  });

  test.each<[what: string, members: Row, field: "input" | "output", event: string]>([
    ["output of a command", { output: `first ${"x".repeat(5_000_000)} last` }, "output", "afterShellExecution"],
    [
      "edit",
      { edits: [{ old_string: "first", new_string: `${"x".repeat(5_000_000)} last` }] },
      "input",
      "afterFileEdit",
    ],
    ["result of a tool", { result_json: `first ${"x".repeat(5_000_000)} last` }, "output", "afterMCPExecution"],
  ])("a huge %s is truncated in the middle, with a mark", async (_what, members, field, event) => {
    const ids = { conversation: `huge-${event}`, generation: "g" };
    await editor.runAll([hook(event, ids, members)]);
    const text = String((await traceOf(ids.conversation, "g")).span_tree[0]?.[field]);
    expect(text.length).toBeLessThan(101_000);
    expect(text).toMatch(/first[^]*\d{7} characters left out by the editor hook[^]* last/);
  });

  test("a long list of edits is truncated", async () => {
    const ids = { conversation: "many-edits", generation: "g" };
    await editor.runAll([
      hook("afterFileEdit", ids, { edits: Array.from({ length: 500 }, (_, n) => ({ new_string: `${n}` })) }),
    ]);
    const [span] = (await traceOf(ids.conversation, "g")).span_tree;
    expect((JSON.parse(String(span?.["input"])) as { edits: unknown[] }).edits).toHaveLength(50);
    expect(span?.["output"]).toBe("500 edits");
  });

  test("may begin with byte order marks, as on Windows", async () => {
    const payload = hook("afterAgentResponse", { conversation: "marks", generation: "g" });
    expect(await editor.run(`\uFEFF\uFEFF${JSON.stringify(payload)}`)).toMatchObject({ code: 0, stdout: "{}\n" });
    expect((await traceOf("marks", "g")).span_tree).toHaveLength(1);
  });
});

describe("a server", () => {
  test("that is down gets the missed spans at the end of the turn", async () => {
    const ids = { conversation: "down", generation: "g" };
    const downUrl = "http://127.0.0.1:9/api";
    editor.env["SPANWAY_BASE_URL"] = downUrl;
    await editor.runAll([
      hook("beforeSubmitPrompt", ids),
      hook("afterShellExecution", ids),
      hook("afterMCPExecution", ids),
    ]);
    editor.env["SPANWAY_BASE_URL"] = `${app.url}/api`;
    await editor.runAll([hook("afterAgentResponse", ids)]);
    const [root] = (await traceOf("down", "g")).span_tree;
    expect(root?.children.map(({ span_unique_id }) => span_unique_id).sort()).toEqual(["g_mcp_1", "g_shell_1"]);
  });

  test("that is down for a whole turn gets it after the next turn of the conversation", async () => {
    const [first, second] = ["one", "two"].map((generation) => ({ conversation: "outage", generation })) as [
      { conversation: string; generation: string },
      { conversation: string; generation: string },
    ];
    const turn = (ids: typeof first) =>
      ["beforeSubmitPrompt", "afterShellExecution", "afterAgentResponse", "stop"].map((event) => hook(event, ids));
    editor.env["SPANWAY_BASE_URL"] = "http://127.0.0.1:9/api";
    await editor.runAll(turn(first));
    editor.env["SPANWAY_BASE_URL"] = `${app.url}/api`;
    await editor.runAll(turn(second));
    for (const { generation } of [first, second]) {
      expect((await traceOf("outage", generation)).span_tree).toMatchObject([
        {
          output: expect.stringContaining("All 4 tests pass"),
          children: [{ span_unique_id: `${generation}_shell_1` }],
        },
      ]);
    }
    expect(editor.textOnDisk()).not.toContain("discount");
  });
});

test("without a usable state folder, spans are sent with their own ids", async () => {
  editor.env["SPANWAY_HOOK_STATE_DIR"] = join(script, "state");
  const ids = { conversation: "stateless", generation: "g" };
  await editor.runAll(
    ["afterShellExecution", "afterShellExecution", "afterAgentResponse"].map((event) => hook(event, ids)),
  );
  const [root] = (await traceOf("stateless", "g")).span_tree;
  expect(new Set(root?.children.map(({ span_unique_id }) => span_unique_id)).size).toBe(2);
});

test("the end of an unknown turn creates no trace", async () => {
  await editor.run(hook("stop", { conversation: "never", generation: "g" }));
  await settle(app.prod);
  expect((await getTrace(app.prod, "never_g")).status).toBe(404);
});
