import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { attemptsOf } from "../routing/router.fixture.ts";
import { bindEvent, bindResponse, takeBonds } from "./key-bonds.ts";

const id = fc.stringMatching(/^[a-z]{2,5}_[\w-]{1,20}$/);
const bond = fc.stringMatching(/^[\w-]{8}$/);
const item = fc.record({ type: fc.constant("reasoning"), id, encrypted_content: id });

describe("what is bound to a key", () => {
  test("P6: comes back as the provider made it, with the mark of its key", () => {
    fc.assert(
      fc.property(id, fc.array(item, { minLength: 1, maxLength: 3 }), bond, (responseId, output, mark) => {
        const bound = bindResponse({ id: responseId, output }, mark);
        expect(bindEvent({ response: { id: responseId, output } }, mark)).toEqual({ response: bound });
        expect(takeBonds({ previous_response_id: bound["id"], input: bound["output"] })).toEqual({
          asked: { previous_response_id: responseId, input: output },
          bond: { value: mark, param: "previous_response_id" },
        });
        expect(takeBonds({ input: bound["output"] })).toEqual({
          asked: { input: output },
          bond: { value: mark, param: "input" },
        });
      }),
    );
  });

  test("P6: is nothing in a request without marks, which is left alone", () => {
    const asked = { input: [{ role: "user", content: "a.kAAAAAAAA" }], previous_response_id: "resp_1", tools: [{}] };
    const taken = takeBonds(asked);
    expect(taken.asked).toBe(asked);
    expect(taken.bond).toBeUndefined();
  });

  test("P6: names the same key on every node, and says nothing of it", async () => {
    const world = { env: { openai: undefined } };
    const call = { model: "gpt-4o", operation: "responses" as const };
    const [here] = await attemptsOf(world, call);
    const [there] = await attemptsOf(world, call);
    expect(here?.bond).toMatch(/^[\w-]{8}$/);
    expect(there?.bond).toBe(here?.bond);
    const [foreign] = await attemptsOf(world, { ...call, organizationId: "org_b" });
    expect(foreign?.bond).not.toBe(here?.bond);
  });
});
