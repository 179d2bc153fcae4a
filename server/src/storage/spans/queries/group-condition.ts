import type { GroupCondition, StatementParams } from "../span-store.ts";

/** The expressions that a statement over groups must select for `having`. */
export function groupMatches(condition: GroupCondition | undefined): string[] {
  return (condition?.matches ?? []).map(({ sql }, index) => `max(${sql}) AS match_${index}`);
}

export function conditionParams(condition: GroupCondition | undefined): StatementParams {
  const parts = (condition?.matches ?? []).map(({ params }) => params);
  return Object.assign({}, condition?.having.params, ...parts) as StatementParams;
}
