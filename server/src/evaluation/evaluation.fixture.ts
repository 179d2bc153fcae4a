import { randomUUID } from "node:crypto";
import type { Evaluator } from "../domain/evaluator.ts";
import type { StoredSpan } from "../storage/spans/span-store.ts";

const now = "2026-03-01T10:00:00.000Z";

/** A judge with a numerical score, unless `fields` state otherwise. */
export function testEvaluator(fields: Partial<Evaluator> = {}): Evaluator {
  return {
    id: randomUUID(),
    unique_organization_id: "org",
    evaluator_slug: `judge-${randomUUID()}`,
    name: "Judge",
    description: "",
    type: "llm",
    score_value_type: "numerical",
    eval_class: "svc_custom_evaluator",
    score_config: {},
    passing_conditions: null,
    llm_config: { model: "judge-1", evaluator_definition: "Rate {{output}} for {{metadata.tier}}", temperature: 0 },
    code_config: null,
    rule_config: null,
    tags: [],
    starred: false,
    created_at: now,
    updated_at: now,
    ...fields,
  };
}

export function testLog(fields: Partial<StoredSpan> = {}): StoredSpan {
  return {
    unique_id: randomUUID(),
    timestamp: "2026-03-01 10:00:00.000000000",
    environment: "prod",
    version: "1",
    output: "an answer",
    metadata: '{"tier":"paid"}',
    log_method: "logging_api",
    ...fields,
  };
}
