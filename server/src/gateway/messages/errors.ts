import { anthropicErrorBody, anthropicErrorStatus } from "../../domain/anthropic-errors.ts";
import { errorOfProblem, type CallError, type ErrorForm } from "../call/client-answer.ts";
import type { UpstreamProblem } from "../providers/provider.ts";

/**
 * Errors in the form of Anthropic's API (ADR 0034). The upstream's error is forwarded unchanged, except errors about
 * the key, which is not the caller's.
 */
export function anthropicErrors(requestId: string): ErrorForm {
  const publicError = (error: CallError): CallError => ({
    ...error,
    status: error.status === 424 ? statusOfFault(error) : error.status,
    headers: { "request-id": requestId, ...error.headers },
  });
  const ofProblem = (problem: UpstreamProblem): CallError => {
    const error = errorOfProblem(problem);
    if (problem.kind === "credential") return publicError(ofCredential(error));
    const status = problem.status === 200 ? anthropicErrorStatus(problem.type) : problem.status;
    // Statuses that HTTP does not define are not forwarded.
    if (status === undefined || status < 400 || status > 599) return publicError(error);
    const { answer } = problem;
    if (answer === undefined) return publicError({ ...error, status });
    return publicError({ ...error, status, body: answer.text, headers: { ...error.headers, ...answer.headers } });
  };
  const body = ({ body: stated, status, message }: CallError): string =>
    stated ?? JSON.stringify(anthropicErrorBody({ status, message }, requestId));
  return {
    ofProblem,
    ofBreak: ofProblem,
    adapted: publicError,
    body,
    event: (error) => `event: error\ndata: ${body(error).replace(/\r\n?|\n/g, "\ndata: ")}\n\n`,
  };
}

/** Anthropic's API has no 424: its clients retry after a status of 500 and above. */
function statusOfFault({ code }: CallError): number {
  return code === "timeout" || code === "upstream_timeout" ? 504 : 502;
}

function ofCredential(error: CallError): CallError {
  const isOutOfCredit = error.code === "upstream_out_of_credit";
  const message = isOutOfCredit ? "The account of the credential in use is out of credit." : error.message;
  return { ...error, message, headers: { ...error.headers, "x-should-retry": "false" } };
}
