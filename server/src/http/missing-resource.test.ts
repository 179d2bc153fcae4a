import { expect, test } from "vitest";
import { errorReply } from "./error-reply.ts";

const coded = (code: string, message = "failed") => Object.assign(new Error(message), { code });

test.each([
  ["a full disk", coded("ENOSPC"), "its disk is full"],
  ["SQLite on a full disk", Object.assign(coded("ERR_SQLITE_ERROR"), { errcode: 13 }), "its disk is full"],
  ["Postgres on a full disk", coded("53100"), "its disk is full"],
  ["ClickHouse on a full disk", coded("243"), "its disk is full"],
  ["no file descriptors", coded("EMFILE"), "file descriptors"],
  ["a Postgres that ended the connection", coded("57P01"), "database does not answer"],
  ["a Postgres that disconnected", new Error("Connection terminated unexpectedly"), "database does not answer"],
  ["a Postgres that cannot be reached", coded("ECONNREFUSED"), "database does not answer"],
  ["one of them as the cause of another error", new Error("outer", { cause: coded("ENFILE") }), "file descriptors"],
])("K13: %s is 503 with Retry-After", (_, error, detail) => {
  const reply = errorReply(error, { dialect: "default", requestId: "r", requestContentType: "" });
  expect([reply.status, reply.headers["retry-after"]]).toEqual([503, "5"]);
  expect(JSON.stringify(reply.payload)).toContain(detail);
});

test.each([new Error("a bug"), coded("23505"), coded("ENOENT"), Object.assign(new Error("x"), { code: 243 }), "text"])(
  "any other error is a 500 without details: %s",
  (error) => {
    const reply = errorReply(error, { dialect: "default", requestId: "r", requestContentType: "" });
    expect(reply.status).toBe(500);
  },
);
