const text = { type: "string" };
const fieldErrors = { type: "object", additionalProperties: { type: "array", items: text } };
const rowErrors = {
  type: "array",
  items: {
    type: "object",
    required: ["index", "error"],
    properties: { index: { type: "integer" }, error: text, code: text, errors: fieldErrors },
  },
};

/** The JSON Schemas of the error bodies that `error-reply.ts` writes. */
export const errorSchemas = {
  Error: {
    type: "object",
    required: ["detail", "code"],
    properties: {
      detail: { ...text, description: "What is wrong, for people." },
      code: { ...text, description: "What is wrong, for programs." },
      message: { ...text, description: "On 400: the same as `detail`." },
      error: { ...text, description: "On 404: the same as `detail`." },
      errors: {
        anyOf: [fieldErrors, rowErrors],
        description: 'Errors by field, as `{"a.b": ["…"]}`; by row if several rows were sent and none was accepted.',
      },
      retry_after: { type: "integer", description: "Seconds to wait before trying again." },
      request_id: { ...text, description: "On 500: the id to quote." },
    },
  },
  FieldError: {
    anyOf: [
      { $ref: "#/components/schemas/Error" },
      { type: "object", description: "Messages keyed by field, nested like the fields.", additionalProperties: true },
    ],
  },
  OpenAiError: {
    type: "object",
    required: ["error"],
    properties: {
      error: {
        type: "object",
        required: ["message", "type", "param", "code"],
        properties: {
          message: text,
          type: text,
          param: { type: ["string", "null"] },
          code: { type: ["string", "null"] },
        },
      },
    },
  },
  AnthropicError: {
    type: "object",
    required: ["type", "error"],
    properties: {
      type: { const: "error" },
      error: { type: "object", required: ["type", "message"], properties: { type: text, message: text } },
      request_id: text,
    },
  },
  JsonRpcError: {
    type: "object",
    required: ["jsonrpc", "id", "error"],
    properties: {
      jsonrpc: { const: "2.0" },
      id: { type: ["string", "integer", "null"] },
      error: {
        type: "object",
        required: ["code", "message"],
        properties: { code: { type: "integer" }, message: text, data: { type: "object" } },
      },
    },
  },
  RpcStatus: {
    type: "object",
    description: "google.rpc.Status; in protobuf if the request was.",
    required: ["code", "message"],
    properties: { code: { type: "integer" }, message: text, details: { type: "array", items: { type: "object" } } },
  },
};
