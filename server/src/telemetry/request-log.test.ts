import { pino } from "pino";
import { expect, test } from "vitest";
import { createRequestLog, type RequestLine } from "./request-log.ts";

const line: RequestLine = {
  method: "POST",
  route: "/api/chat/completions",
  status: 200,
  ms: 1.25,
  request_id: "4f0680cd-9e1f-47fd-9275-34f3c8e4d707",
  organization_id: "org_1",
};

test.each([
  ["of an organization", line],
  ["of nobody", { ...line, organization_id: undefined }],
  ["of an organization with an odd name", { ...line, organization_id: 'a"b\\c\n' }],
])("a line %s is one JSON object that holds all of it", (_what, said) => {
  const written: string[] = [];
  const log = createRequestLog(pino({ base: null }, { write: (text: string) => void written.push(text) }));
  log.info(said, "request");
  expect(written).toHaveLength(1);
  expect(written[0]).toMatch(/^\{[^\n]*\}\n$/);
  const time = expect.any(Number) as number;
  expect(JSON.parse(written[0] ?? "")).toEqual({
    level: 30,
    time,
    ...JSON.parse(JSON.stringify(said)),
    msg: "request",
  });
});
