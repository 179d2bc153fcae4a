import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { attemptsOf } from "../routing/router.fixture.ts";
import { markEvent, markResponse, removeMarks } from "./key-marks.ts";

const id = fc.stringMatching(/^[a-z]{2,5}_[\w-]{1,20}$/);
const keyMark = fc.stringMatching(/^[\w-]{8}$/);
const item = fc.record({ type: fc.constant("reasoning"), id, encrypted_content: id });

describe("values with a key mark", () => {
  test("P6: return unmarked, with the mark's key", () => {
    fc.assert(
      fc.property(id, fc.array(item, { minLength: 1, maxLength: 3 }), keyMark, (responseId, output, mark) => {
        const bound = markResponse({ id: responseId, output }, mark);
        expect(markEvent({ response: { id: responseId, output } }, mark)).toEqual({ response: bound });
        expect(removeMarks({ previous_response_id: bound["id"], input: bound["output"] })).toEqual({
          members: { previous_response_id: responseId, input: output },
          keyMark: { value: mark, param: "previous_response_id" },
        });
        expect(removeMarks({ input: bound["output"] })).toEqual({
          members: { input: output },
          keyMark: { value: mark, param: "input" },
        });
      }),
    );
  });

  test("P6: do not exist in a request without marks, which stays unchanged", () => {
    const members = { input: [{ role: "user", content: "a.kAAAAAAAA" }], previous_response_id: "resp_1", tools: [{}] };
    const taken = removeMarks(members);
    expect(taken.members).toBe(members);
    expect(taken.keyMark).toBeUndefined();
  });

  test("P6: have the same mark on every node, which reveals nothing of the key", async () => {
    const world = { env: { openai: undefined } };
    const call = { model: "gpt-4o", operation: "responses" as const };
    const [here] = await attemptsOf(world, call);
    const [there] = await attemptsOf(world, call);
    expect(here?.keyMark).toMatch(/^[\w-]{8}$/);
    expect(there?.keyMark).toBe(here?.keyMark);
    const [foreign] = await attemptsOf(world, { ...call, organizationId: "org_b" });
    expect(foreign?.keyMark).not.toBe(here?.keyMark);
  });
});
