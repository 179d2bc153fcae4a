#!/usr/bin/env node
// @ts-check
/**
 * Sends the steps of Cursor's agent to Spanway: a trace per turn, a thread per conversation. Cursor runs this file once
 * per hook, with the event as JSON on stdin. One file, Node >= 18, no dependencies; README.md describes the
 * installation.
 *
 * The editor has priority: the script prints its response first, ignores every error, exits with code 0, and takes no
 * longer than `limits.hookMs`. Spans are sent before the process ends rather than by a background process: a detached
 * sender outlives the editor, is killed with its process group in containers and remote windows, and accumulates when
 * the server hangs. After a timeout, sending pauses instead, so that a dead server costs an agent with fifty tool calls
 * two seconds and not a hundred; unsent spans wait in the turn's folder for the end of the turn.
 */
import { spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import * as fs from "node:fs";
import { isIP } from "node:net";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/**
 * Prefixes of environment variables: TRACE_TO_<prefix>, <prefix>_API_KEY, <prefix>_BASE_URL. All three come from the
 * first enabled prefix, so that a key is never sent to the address of another prefix.
 */
const prefixes = ["SPANWAY", "RESPAN", "KEYWORDSAI"];
const defaultBaseUrl = "http://127.0.0.1:8787/api";

const limits = {
  hookMs: 3_000,
  sendMs: 2_000,
  /** After a timeout, nothing is sent for this long, except at the end of a turn. */
  pauseMs: 30_000,
  /** Editors may run hooks of the same moment concurrently: how long `stop` waits for the response hook. */
  responseWaitMs: 500,
  stdinBytes: 32 * 1024 * 1024,
  /** Per text; of a longer one, the middle is left out. */
  textChars: 100_000,
  edits: 50,
  /** Unsent spans of one turn on disk. */
  unsentBytes: 4 * 1024 * 1024,
  logBytes: 1024 * 1024,
  turns: 200,
  turnAgeMs: 24 * 60 * 60 * 1000,
  claims: 1_000,
};

/** When the editor ran the hook, not when Node was ready. */
const nowMs = Math.round(performance.timeOrigin);

/**
 * @typedef {Record<string, unknown>} Json
 * @typedef {{ apiKey: string, url: URL, stateDir: string, isDebug: boolean }} Settings
 * @typedef {{ settings: Settings, state: string | undefined, log: (line: string) => void }} Context `state` is the private folder
 * @typedef {{ conversation: string, generation: string }} TurnId
 * @typedef {TurnId & { startMs: number, prompt?: string, model?: string | undefined, metadata?: Json, status?: string,
 *   stopMs?: number, usage?: Json, hasEnded?: boolean }} Turn what `turn.json` holds
 * @typedef {{ text: string, endMs: number, model?: string | undefined, usage?: Json }} Response what `response_N` holds
 * @typedef {{ kind: string, name: (n: number) => string, input?: string, output?: string,
 *   ms?: number | undefined, model?: string | undefined, error?: string | undefined }} Step
 */

// ---------------------------------------------------------------- the editor's side

/** @returns {Settings | undefined} nothing unless a prefix is enabled and has a key */
function readSettings(/** @type {NodeJS.ProcessEnv} */ env) {
  const isOn = (/** @type {string} */ name) => /^(?:true|1|yes)$/i.test(env[name]?.trim() ?? "");
  const prefix = prefixes.find((name) => isOn(`TRACE_TO_${name}`));
  const apiKey = env[`${prefix}_API_KEY`]?.trim();
  if (prefix === undefined || !apiKey) return undefined;
  const base = env[`${prefix}_BASE_URL`]?.trim() || defaultBaseUrl;
  return {
    apiKey,
    url: new URL(`${base.replace(/\/+$/, "")}/v1/traces/ingest`),
    stateDir: env["SPANWAY_HOOK_STATE_DIR"] || join(homedir(), ".cursor", "state", "spanway-hook"),
    isDebug: isOn("SPANWAY_HOOK_DEBUG") || isOn("CURSOR_RESPAN_DEBUG"),
  };
}

/** Reads to the end, even beyond the limit: otherwise the editor would find its pipe closed. */
async function readStdin() {
  /** @type {Buffer[]} */
  const chunks = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += chunk.length;
    if (bytes <= limits.stdinBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** @returns {Json | undefined} */
function parseObject(/** @type {string} */ text) {
  try {
    // Cursor on Windows sends a byte order mark, or two.
    const value = JSON.parse(text.replace(/^\uFEFF+/, ""));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Cursor waits for the response to a prompt hook only. An unknown event may be a prompt. */
function answer(/** @type {unknown} */ event) {
  try {
    fs.writeSync(1, event === undefined || event === "beforeSubmitPrompt" ? '{"continue":true}\n' : "{}\n");
  } catch {
    // An editor that no longer listens needs no answer.
  }
}

async function main() {
  let hasAnswered = false;
  const leave = () => {
    if (!hasAnswered) answer(undefined);
    process.exit(0);
  };
  setTimeout(leave, limits.hookMs);
  process.on("uncaughtException", leave);
  try {
    const payload = parseObject(await readStdin());
    answer(payload?.["hook_event_name"]);
    hasAnswered = true;
    const settings = readSettings(process.env);
    if (payload !== undefined && settings !== undefined) await handle(payload, await openContext(settings));
  } catch {
    // Tracing never disturbs.
  }
  leave();
}

// ---------------------------------------------------------------- hooks

/** @returns {Promise<void>} */
async function handle(/** @type {Json} */ payload, /** @type {Context} */ context) {
  const event = String(payload["hook_event_name"]);
  const { conversation_id: conversation, generation_id: generation } = payload;
  if (typeof conversation !== "string" || conversation === "") return;
  context.log(event);
  if (event === "stop") return stop(payload, conversation, context);
  if (typeof generation !== "string" || generation === "") return;
  const turn = { conversation, generation };
  if (event === "beforeSubmitPrompt") return beginTurn(turn, payload, context);
  if (event === "afterAgentResponse") return addResponse(turn, payload, context);
  const step = Object.hasOwn(steps, event) ? steps[event]?.(payload) : undefined;
  if (step !== undefined) await addStep(turn, step, context);
}

/** @type {Record<string, (payload: Json) => Step>} */
const steps = {
  afterAgentThought: (payload) => ({
    kind: "thinking",
    name: (n) => `Thinking ${n}`,
    output: cut(asText(payload["text"])),
    ms: asNumber(payload["duration_ms"]),
    model: modelOf(payload),
  }),
  afterShellExecution: (payload) => ({
    kind: "shell",
    name: () => `Shell: ${asTitle(payload["command"])}`,
    input: JSON.stringify({ command: cut(asText(payload["command"])) }),
    output: cut(asText(payload["output"])),
    ms: asNumber(payload["duration"]),
  }),
  afterFileEdit: (payload) => {
    const edits = Array.isArray(payload["edits"]) ? payload["edits"] : [];
    const shown = edits.slice(0, limits.edits);
    const max = limits.textChars / Math.max(1, 2 * shown.length);
    return {
      kind: "file",
      name: () => `Edit: ${asTitle(lastOf(asText(payload["file_path"])))}`,
      input: JSON.stringify({ file_path: payload["file_path"], edits: shown }, (_key, value) =>
        typeof value === "string" ? cut(value, max) : value,
      ),
      output: edits.length === 1 ? "1 edit" : `${edits.length} edits`,
    };
  },
  afterMCPExecution: (payload) => ({
    kind: "mcp",
    name: () => `MCP: ${asTitle(payload["tool_name"])}`,
    input: cut(asText(payload["tool_input"])),
    output: cut(asText(payload["result_json"])),
    ms: asNumber(payload["duration"]),
    error: toolError(asText(payload["result_json"])),
  }),
};

/** Stores the prompt and its time. No network: the prompt is waiting. */
function beginTurn(/** @type {TurnId} */ id, /** @type {Json} */ payload, /** @type {Context} */ { state }) {
  if (state === undefined) return;
  sweep(state);
  const told = { prompt: cut(asText(payload["prompt"])), model: modelOf(payload), metadata: metadataOf(payload) };
  writeTurn(state, { ...id, startMs: nowMs, ...told });
}

async function addStep(/** @type {TurnId} */ id, /** @type {Step} */ step, /** @type {Context} */ context) {
  const { state } = context;
  const startMs = nowMs - (step.ms ?? 0);
  if (state !== undefined && readTurn(folderOf(state, id)) === undefined) writeTurn(state, { ...id, startMs });
  const { n, file } = claim(state, id, step.kind);
  const span = {
    ...placeOf(id),
    span_unique_id: `${id.generation}_${step.kind}_${n}`,
    span_parent_id: `${id.generation}_root`,
    span_path: `${step.kind}_${n}`,
    span_name: step.name(n),
    log_type: step.kind === "thinking" ? "generation" : "tool",
    input: step.input,
    output: step.output,
    model: step.model,
    ...timesOf(startMs, nowMs),
    ...(step.error !== undefined && { status: "error", error_message: step.error }),
  };
  if ((await send([span], context)) === "unsent" && file !== undefined) keepUnsent(file, span);
}

/**
 * Cursor reports each message of a turn: the root is sent with all messages so far, and a later version replaces an
 * earlier one.
 */
async function addResponse(/** @type {TurnId} */ id, /** @type {Json} */ payload, /** @type {Context} */ context) {
  const { state } = context;
  const response = { text: cut(asText(payload["text"])), endMs: nowMs, model: modelOf(payload), ...usageOf(payload) };
  const known = state === undefined ? undefined : readTurn(folderOf(state, id));
  /** @type {Turn} */
  const turn = known ?? { ...id, startMs: nowMs, metadata: metadataOf(payload) };
  if (turn.hasEnded) return;
  if (state !== undefined && known === undefined) writeTurn(state, turn);
  const { file } = claim(state, id, "response");
  const isKept = file !== undefined && writeAtomic(file, JSON.stringify(response));
  if (state !== undefined && isKept) await sendTurn(state, turn, context);
  else await send([rootSpan(turn, [response])], context);
}

/** Sends the last version of the root and all unsent spans, then deletes the turn and older unfinished turns. */
async function stop(/** @type {Json} */ payload, /** @type {string} */ conversation, /** @type {Context} */ context) {
  const { state } = context;
  if (state === undefined) return;
  const { generation_id: generation, status } = payload;
  for (const found of turnsOf(state, conversation)) {
    // Some versions of Cursor send no generation id here.
    const isThis = generation === undefined || found.generation === generation;
    if (!isThis && found.status === undefined) continue;
    const turn = isThis
      ? { ...found, status: asText(status) || "completed", stopMs: nowMs, ...usageOf(payload) }
      : found;
    if (isThis) writeTurn(state, turn);
    const mayRespond = () => isThis && turn.status === "completed" && responsesOf(state, turn).length === 0;
    for (let waited = 0; waited < limits.responseWaitMs && mayRespond(); waited += 50) await sleep(50);
    if (leftMs() === 1 || (await sendTurn(state, turn, context, true)) === "unsent") break;
    // A later response still needs the prompt; the next `stop` deletes it.
    if (!mayRespond()) endTurn(state, turn);
  }
  sweep(state);
}

// ---------------------------------------------------------------- spans

function placeOf(/** @type {TurnId} */ { conversation, generation }) {
  return { trace_unique_id: `${conversation}_${generation}`, span_workflow_name: `editor_${conversation}` };
}

/** @returns {Json} */
function rootSpan(/** @type {Turn} */ turn, /** @type {Response[]} */ responses) {
  const last = responses.at(-1);
  const hasFailed = turn.status !== undefined && turn.status !== "completed";
  const endMs = (hasFailed ? turn.stopMs : last?.endMs) ?? turn.stopMs ?? nowMs;
  return {
    ...placeOf(turn),
    thread_identifier: `editor_${turn.conversation}`,
    span_unique_id: `${turn.generation}_root`,
    span_path: "",
    span_name: "Agent turn",
    log_type: "agent",
    model: last?.model ?? turn.model,
    input: turn.prompt,
    output: responses.length === 0 ? undefined : cut(responses.map(({ text }) => text).join("\n\n")),
    ...timesOf(turn.startMs, endMs),
    ...(turn.usage ?? last?.usage),
    metadata: { ...turn.metadata, ...(turn.status !== undefined && { stop_status: turn.status }) },
    ...(hasFailed && {
      // 499: the client disconnected, as in proxies.
      status_code: turn.status === "aborted" ? 499 : 500,
      error_message: `The turn ended with the status ${cut(turn.status ?? "", 100)}.`,
    }),
  };
}

function timesOf(/** @type {number} */ startMs, /** @type {number} */ endMs) {
  return {
    start_time: new Date(startMs).toISOString(),
    timestamp: new Date(endMs).toISOString(),
    latency: Math.max(0, endMs - startMs) / 1000,
  };
}

/** Only the last folder name of a path, and no e-mail address. */
function metadataOf(/** @type {Json} */ { cursor_version, workspace_roots: roots, attachments }) {
  return {
    editor: "cursor",
    editor_version: cursor_version,
    workspace: Array.isArray(roots) ? lastOf(asText(roots[0])) : undefined,
    attachments: Array.isArray(attachments) ? attachments.length : undefined,
  };
}

/** Counts that newer versions of Cursor send; `input_tokens` includes cached tokens. */
function usageOf(/** @type {Json} */ payload) {
  /** @type {Json} */
  const usage = {
    prompt_tokens: asNumber(payload["input_tokens"]),
    completion_tokens: asNumber(payload["output_tokens"]),
    prompt_cache_hit_tokens: asNumber(payload["cache_read_tokens"]),
    prompt_cache_creation_tokens: asNumber(payload["cache_write_tokens"]),
  };
  return Object.values(usage).some((count) => count !== undefined) ? { usage } : {};
}

/** "default" means that Cursor chose a model, without its name. */
function modelOf(/** @type {Json} */ { model }) {
  return typeof model === "string" && model !== "" && model !== "default" ? model : undefined;
}

/** MCP tools report an error in their result. */
function toolError(/** @type {string} */ result) {
  const value = parseObject(result);
  if (value?.["isError"] !== true) return undefined;
  const [first] = Array.isArray(value["content"]) ? value["content"] : [];
  return cut(asText(first?.text) || "The tool answered with an error.", 1000);
}

const asText = (/** @type {unknown} */ value) =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);

const lastOf = (/** @type {string} */ path) => basename(path.replaceAll("\\", "/"));

const asNumber = (/** @type {unknown} */ value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;

const asTitle = (/** @type {unknown} */ value) => (asText(value).trim().split("\n", 1)[0] ?? "").slice(0, 60);

/** The beginning and the end of a text matter most: commands print their errors last. */
function cut(/** @type {string} */ text, max = limits.textChars) {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  const note = `… [${text.length - 2 * half} characters left out by the editor hook] …`;
  return `${text.slice(0, half)}\n${note}\n${text.slice(-half)}`;
}

// ---------------------------------------------------------------- sending

/**
 * Nothing is retried here: `unsent` may be tried again later, `refused` not.
 * @param {Json[]} spans
 * @param {Context} context
 * @returns {Promise<"sent" | "refused" | "unsent">}
 */
async function send(spans, { settings, state, log }, isLast = false) {
  const pause = state === undefined ? undefined : join(state, `pause-${hash(settings.url.href)}`);
  if (!isLast && pause !== undefined && ageMs(pause) < limits.pauseMs) return "unsent";
  const body = JSON.stringify(spans);
  const isAddress = isIP(settings.url.hostname.replace(/^\[|\]$/g, "")) > 0;
  const outcome = isAddress ? await post(settings, body) : postByName(body);
  log(`${spans.length} spans: ${outcome}`);
  if (/^(?:ABORT_ERR|ETIMEDOUT)$/.test(outcome) && pause !== undefined) writeAtomic(pause, "");
  if (outcome.startsWith("2")) return "sent";
  return /^[34]/.test(outcome) && outcome !== "429" ? "refused" : "unsent";
}

/** The part of the remaining time that one request may take. */
const leftMs = () => Math.round(Math.max(1, Math.min(limits.sendMs, limits.hookMs - performance.now())));

/**
 * Follows no redirect, which could send spans elsewhere.
 * @returns {Promise<string>} the status, or the code of the error
 */
async function post(/** @type {Settings} */ { url, apiKey }, /** @type {string} */ body) {
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const options = { method: "POST", headers, signal: AbortSignal.timeout(leftMs()) };
  return new Promise((resolve) => {
    const sent = request(url, options, ({ statusCode }) => resolve(String(statusCode)));
    sent.on("error", (error) => resolve(codeOf(error)));
    sent.end(body);
  });
}

/**
 * Node does not exit during a DNS lookup, not even by `process.exit`, and a lookup can take long. So a second process,
 * which can be killed, resolves names.
 */
function postByName(/** @type {string} */ body) {
  const options = { input: body, timeout: leftMs(), killSignal: /** @type {const} */ ("SIGKILL"), windowsHide: true };
  const { stdout, error } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), "post"], options);
  return error === undefined ? String(stdout) : codeOf(error);
}

/** The second process: prints the outcome. */
async function postInput() {
  const settings = readSettings(process.env);
  if (settings !== undefined) fs.writeSync(1, await post(settings, await readStdin()));
  process.exit(0);
}

/**
 * Sends the root and all unsent spans in one request.
 * @param {string} state
 * @param {Turn} turn
 * @param {Context} context
 */
async function sendTurn(state, turn, context, isLast = false) {
  const unsent = heldBy(state, turn, /^(?:thinking|shell|file|mcp)_\d+$/);
  const spans = [...unsent.map(({ value }) => value), rootSpan(turn, responsesOf(state, turn))];
  const outcome = await send(spans, context, isLast);
  if (outcome === "sent") for (const { file } of unsent) fs.truncateSync(file);
  return outcome;
}

// ---------------------------------------------------------------- state between hooks

/*
 * <state>/<hash of conversation>-<hash of generation>/turn.json         the data of the turn
 *                                                     response_1, …     messages of the agent
 *                                                     shell_1, …        a reserved number; its span if unsent
 * Ids are hashed, so that no id is a path. A file created exclusively reserves a number, so that concurrent hooks
 * never share one; when a turn has ended the files stay, empty, so that a late hook does not begin at 1 again.
 */

/** @returns {Promise<Context>} */
async function openContext(/** @type {Settings} */ settings) {
  const state = await openState(settings.stateDir);
  const log = (/** @type {string} */ line) => {
    if (settings.isDebug && state !== undefined) appendLog(join(state, "hook.log"), line);
  };
  return { settings, state, log };
}

/** The folder, if only this user can access it. Without it spans are sent, but prompts are not stored. */
async function openState(/** @type {string} */ dir) {
  try {
    // Below /proc, where mkdir fails with ENOENT, Node retries forever: a timer ends this too.
    await fs.promises.mkdir(dir, { recursive: true, mode: 0o700 });
    const { uid, mode } = fs.statSync(dir);
    if (process.getuid !== undefined && uid !== process.getuid()) return undefined;
    if ((mode & 0o077) !== 0) fs.chmodSync(dir, 0o700);
    return dir;
  } catch {
    return undefined;
  }
}

const hash = (/** @type {string} */ text) => createHash("sha256").update(text).digest("hex").slice(0, 32);

const folderOf = (/** @type {string} */ state, /** @type {TurnId} */ { conversation, generation }) =>
  join(state, `${hash(conversation)}-${hash(generation)}`);

const namesIn = (/** @type {string} */ folder) => (fs.existsSync(folder) ? fs.readdirSync(folder) : []);

const readTurn = (/** @type {string} */ folder) =>
  /** @type {Turn | undefined} */ (readObject(join(folder, "turn.json")));

const writeTurn = (/** @type {string} */ state, /** @type {Turn} */ turn) =>
  writeAtomic(join(folderOf(state, turn), "turn.json"), JSON.stringify(turn));

/** Unfinished turns of a conversation, the oldest first. */
function turnsOf(/** @type {string} */ state, /** @type {string} */ conversation) {
  const names = namesIn(state).filter((name) => name.startsWith(`${hash(conversation)}-`));
  const turns = names.map((name) => readTurn(join(state, name))).filter((turn) => turn !== undefined);
  return turns.filter(({ hasEnded }) => hasEnded !== true).sort((a, b) => a.startMs - b.startMs);
}

/** Keeps the used numbers, and deletes all text. */
function endTurn(/** @type {string} */ state, /** @type {Turn} */ { conversation, generation, startMs }) {
  const folder = folderOf(state, { conversation, generation });
  for (const name of namesIn(folder)) if (name !== "turn.json") fs.truncateSync(join(folder, name));
  writeTurn(state, { conversation, generation, startMs, hasEnded: true });
}

/**
 * Reserves the next number of a kind. Without a state folder, a unique number.
 * @returns {{ n: number, file?: string }}
 */
function claim(/** @type {string | undefined} */ state, /** @type {TurnId} */ id, /** @type {string} */ kind) {
  const folder = state === undefined ? "" : folderOf(state, id);
  const first = namesIn(folder).filter((name) => name.startsWith(`${kind}_`)).length + 1;
  for (let n = first; folder !== "" && n < first + limits.claims; n += 1) {
    const file = join(folder, `${kind}_${n}`);
    try {
      fs.writeFileSync(file, "", { flag: "wx", mode: 0o600 });
      return { n, file };
    } catch (error) {
      if (codeOf(error) !== "EEXIST") break;
    }
  }
  return { n: nowMs * 1000 + (process.pid % 1000) };
}

/** The contents of the files `kind_N` of a turn, in the order of N. */
function heldBy(/** @type {string} */ state, /** @type {TurnId} */ id, /** @type {RegExp} */ kinds) {
  const folder = folderOf(state, id);
  const numberOf = (/** @type {string} */ name) => Number(name.split("_")[1]);
  const names = namesIn(folder).filter((name) => kinds.test(name));
  return names
    .sort((a, b) => numberOf(a) - numberOf(b))
    .map((name) => ({ file: join(folder, name), value: readObject(join(folder, name)) ?? {} }))
    .filter(({ value }) => Object.keys(value).length > 0);
}

const responsesOf = (/** @type {string} */ state, /** @type {TurnId} */ id) =>
  heldBy(state, id, /^response_\d+$/).map(({ value }) => /** @type {Response} */ (value));

function keepUnsent(/** @type {string} */ file, /** @type {Json} */ span) {
  const folder = dirname(file);
  const held = namesIn(folder).reduce((sum, name) => sum + sizeOf(join(folder, name)), 0);
  const text = JSON.stringify(span);
  if (held + Buffer.byteLength(text) <= limits.unsentBytes) writeAtomic(file, text);
}

/** Removes old turns, and the oldest ones beyond the limit; a killed hook leaves its turn behind. */
function sweep(/** @type {string} */ state) {
  const names = namesIn(state).filter((name) => /^[0-9a-f]{32}-[0-9a-f]{32}$/.test(name));
  const turns = names.map((name) => ({ path: join(state, name), age: ageMs(join(state, name)) }));
  turns.sort((a, b) => a.age - b.age);
  const gone = turns.filter(({ age }, place) => age > limits.turnAgeMs || place >= limits.turns);
  for (const { path } of gone) fs.rmSync(path, { recursive: true, force: true });
}

/** Another hook reads either the old text or the new one, never a part. Returns false if the write fails. */
function writeAtomic(/** @type {string} */ path, /** @type {string} */ text) {
  try {
    fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const made = join(dirname(path), `new-${randomUUID()}`);
    fs.writeFileSync(made, text, { flag: "wx", mode: 0o600 });
    fs.renameSync(made, path);
    return true;
  } catch {
    return false;
  }
}

function readObject(/** @type {string} */ path) {
  try {
    return parseObject(fs.readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

const statOf = (/** @type {string} */ path) => fs.statSync(path, { throwIfNoEntry: false });
const sizeOf = (/** @type {string} */ path) => statOf(path)?.size ?? 0;
const ageMs = (/** @type {string} */ path) => Date.now() - (statOf(path)?.mtimeMs ?? 0);

/** Writes events with their time: no text of a prompt or a tool, and no key. */
function appendLog(/** @type {string} */ path, /** @type {string} */ line) {
  const flag = sizeOf(path) > limits.logBytes ? "w" : "a";
  fs.writeFileSync(path, `${new Date().toISOString()} ${line.slice(0, 200)}\n`, { flag, mode: 0o600 });
}

const codeOf = (/** @type {unknown} */ error) =>
  error instanceof Error && "code" in error ? String(error.code) : "failed";

await (process.argv[2] === "post" ? postInput() : main());
