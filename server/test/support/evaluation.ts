import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { bodyOf } from "./spans.ts";
import type { Row, TestClient } from "./test-client.ts";

/** Set-up steps of tests of conditions, evaluators and automations. Each throws the server's response if it is refused. */

const unique = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`;

async function create(client: TestClient, path: string, body: Row): Promise<Row> {
  const answer = await client.post(path, body);
  if (answer.status !== 201) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
  return bodyOf(answer);
}

export const policy = (...rules: Row[]): Row => ({ rules, connector: "AND" });

export function newCondition(client: TestClient, fields: Row = {}): Promise<Row> {
  return create(client, "/automation/conditions/", {
    name: "Every log",
    condition_slug: unique("condition"),
    condition_type: "single_log",
    condition_policy: policy(),
    ...fields,
  });
}

/** By default, code that scores the length of the output. */
export function newEvaluator(client: TestClient, fields: Row = {}): Promise<Row> {
  return create(client, "/api/evaluators/", {
    name: "Length of the output",
    evaluator_slug: unique("evaluator"),
    type: "code",
    score_value_type: "numerical",
    code_config: { eval_code_snippet: "function main(inputs) { return inputs.output.length }" },
    ...fields,
  });
}

/** By default enabled, and for every log. */
export async function newAutomation(client: TestClient, fields: Row = {}): Promise<Row> {
  const condition = fields["condition"] ?? (await newCondition(client))["id"];
  const evaluator_ids = fields["evaluator_ids"] ?? [(await newEvaluator(client))["id"]];
  return create(client, "/automation/automations/", {
    name: "Judge all",
    automation_slug: unique("automation"),
    automation_type: "online_eval",
    configuration: { sampling_rate: 1 },
    is_enabled: true,
    ...fields,
    condition,
    evaluator_ids,
  });
}

/** Polls until `ask` returns a value. */
export async function eventually<T>(read: () => Promise<T | undefined>, waitMs = 10_000): Promise<T> {
  const deadline = Date.now() + waitMs;
  for (;;) {
    const answer = await read();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error("what was waited for did not come");
    await sleep(30);
  }
}
