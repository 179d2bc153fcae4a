import { beforeAll, describe, expect, inject, test } from "vitest";
import { createClient, type Row } from "../../server/test/support/test-client.ts";
import { newOrganization, readBack } from "../support/run-client.ts";
import { hasPython, installPython } from "../support/python.ts";
import { runSnippet, snippetsOf } from "../support/run-snippet.ts";
import { capital as gatewayAnswer } from "../gateway/upstream/scene.ts";
import { mini, paris } from "./expected.ts";

/** The programs of docs/opentelemetry.md, unchanged. */
const [direct = "", throughGateway = ""] = snippetsOf("docs/opentelemetry.md");
const [directPython = "", throughGatewayPython = ""] = snippetsOf("docs/opentelemetry.md", "python");

async function runDocumented(
  program: string,
  variables: Record<string, string> = {},
  command?: readonly [string, ...string[]],
) {
  const url = inject("serverUrl");
  const key = await newOrganization(url);
  const environment = {
    SPANWAY_URL: url,
    SPANWAY_PROD_KEY: key,
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${key}`,
    ...variables,
  };
  const output = await runSnippet(program, environment, command);
  const prod = createClient(url, key);
  return { output, prod, ...(await readBack(prod)) };
}

type Documented = Awaited<ReturnType<typeof runDocumented>>;
const model = () => ({ OPENAI_BASE_URL: `${inject("modelUrl")}/v1`, OPENAI_API_KEY: "unused" });

function expectOneCall({ output, rows }: Documented): void {
  expect(output).toBe(`${paris}\n`);
  expect(rows).toMatchObject([
    {
      log_type: "chat",
      model: mini,
      customer_identifier: "acme",
      thread_identifier: "chat-1",
      metadata: { plan: "pro" },
      prompt_messages: [{ role: "user", content: "What is the capital of France?" }],
      completion_message: { role: "assistant", content: paris },
      total_tokens: 74,
      cost: expect.any(Number),
    },
  ]);
}

/** The gateway's rows count, the client's around them do not, and the summary is their sum. */
async function expectCountedOnce({ rows, prod }: Documented, { calls, span }: { calls: number; span: string }) {
  const ofGateway = rows.filter(({ log_method }) => log_method === "gateway");
  const ofClient = rows.filter(({ span_name }) => span_name === span);
  expect([ofGateway.length, ofClient.length]).toEqual([calls, calls]);
  for (const row of ofGateway) expect(ancestorsOf(row, rows)).toContain(span);

  const counted = rows.filter((row) => Number(row["counted_tokens"]) > 0);
  expect(new Set(counted)).toEqual(new Set(ofGateway));
  for (const row of ofGateway) {
    expect([row["counted_tokens"], row["counted_cost"]]).toEqual([row["total_tokens"], row["cost"]]);
  }
  const summary = (await prod.post("/api/request-logs/summary/?start_time=2000-01-01", {})).json as Row;
  const sumOf = (member: string) => ofGateway.reduce((sum, row) => sum + Number(row[member]), 0);
  expect(summary["total_tokens"]).toBe(sumOf("total_tokens"));
  expect(summary["total_cost"]).toBeCloseTo(sumOf("cost"), 12);
}

test("the first program sends a call with customer, thread, metadata, messages, tokens and cost", async () => {
  expectOneCall(await runDocumented(direct, model()));
});

test("M5: three calls of an instrumented client through the gateway count three times, streamed or not", async () => {
  const documented = await runDocumented(throughGateway);
  expect(documented.output).toBe(`${gatewayAnswer}\n${gatewayAnswer}\n${gatewayAnswer}`);
  await expectCountedOnce(documented, { calls: 3, span: "OpenAI Chat Completions" });
});

describe.skipIf(!hasPython)(`in Python${hasPython ? "" : " (skipped: there is no python3 with venv and pip)"}`, () => {
  let python: readonly [string, ...string[]];
  beforeAll(async () => {
    python = [await installPython(), "-"];
  }, 300_000);

  test("the first program sends a call with customer, thread, metadata, messages, tokens and cost", async () => {
    expectOneCall(await runDocumented(directPython, model(), python));
  });

  test("M5: a call of an instrumented client through the gateway counts once", async () => {
    const documented = await runDocumented(throughGatewayPython, {}, python);
    expect(documented.output).toBe(`${gatewayAnswer}\n`);
    await expectCountedOnce(documented, { calls: 1, span: "ChatCompletion" });
  });
});

/** The names of a row's ancestors in its trace. */
function ancestorsOf(row: Row, rows: readonly Row[]): unknown[] {
  const parent = rows.find(
    ({ trace_unique_id: trace, span_unique_id: span }) =>
      trace === row["trace_unique_id"] && span === row["span_parent_id"],
  );
  return parent === undefined ? [] : [parent["span_name"], ...ancestorsOf(parent, rows)];
}
