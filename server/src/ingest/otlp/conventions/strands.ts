import { parseTimeNs } from "../../../lib/time.ts";
import type { Convention } from "../convention.ts";
import { systemText } from "../../../messages/request.ts";

/**
 * Strands agents: GenAI events and attributes, plus the instructions and attributes that repeat the span's name and
 * times.
 */
export const strands: Convention = {
  name: "strands",
  applies: ({ scopeName }) => scopeName.startsWith("strands"),
  derive: ({ bag, span }) => {
    if (bag.peek("name") === span.name) bag.drop("name");
    // These repeat the span's own times.
    for (const key of ["gen_ai.event.start_time", "gen_ai.event.end_time"]) {
      if (parseTimeNs(bag.peekText(key) ?? "") !== undefined) bag.accept(key);
    }
    return {};
  },
  content: ({ bag }) => ({ system: systemText(bag.takeText("system_prompt")) }),
};
