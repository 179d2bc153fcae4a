/** The errors of Anthropic's API, from its reference: https://docs.anthropic.com/en/api/errors. */

const typeOfStatus: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** The status for an error without one, as in a stream; undefined for an unknown type. */
export function anthropicErrorStatus(type: string | undefined): number | undefined {
  if (type === "overloaded_error") return 529;
  const found = Object.entries(typeOfStatus).find(([, name]) => name === type);
  return found && Number(found[0]);
}

export function anthropicErrorBody(
  { status, message }: { status: number; message: string },
  requestId: string,
): Record<string, unknown> {
  const type = typeOfStatus[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
  return { type: "error", error: { type, message }, request_id: requestId };
}
