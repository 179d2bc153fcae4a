import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/**
 * Turns Zod schemas into JSON Schemas that can be used anywhere in one OpenAPI document. Local definitions of a schema
 * (named or recursive parts) move to the document's components, and references to them are rewritten.
 */
export class SchemaCollector {
  readonly components: Record<string, JsonSchema>;

  constructor(components: Record<string, JsonSchema>) {
    this.components = components;
  }

  /** `owner` is the prefix for parts without a name, so it must be unique to the schema. */
  inline(owner: string, schema: z.ZodType): JsonSchema {
    const {
      $schema: _dialect,
      $defs = {},
      ...root
    } = z.toJSONSchema(schema, {
      target: "draft-2020-12",
      io: "input",
      unrepresentable: "any",
      // Zod omits these if a transform follows; here they describe the input.
      override: ({ zodSchema, jsonSchema }) => {
        const { default: stated, examples } = z.globalRegistry.get(zodSchema) ?? {};
        if (stated !== undefined) jsonSchema.default = stated;
        if (Array.isArray(examples)) jsonSchema.examples = examples;
      },
    });
    const rename = (reference: string): string => {
      if (reference === "#") return `#/components/schemas/${owner}`;
      return `#/components/schemas/${componentName(owner, reference.replace("#/$defs/", ""))}`;
    };
    for (const [name, definition] of Object.entries($defs)) {
      this.components[componentName(owner, name)] = withReferences(definition, rename);
    }
    const rewritten = withReferences(root, rename);
    if (!JSON.stringify(rewritten).includes(`"${rename("#")}"`)) return rewritten;
    this.components[owner] = rewritten;
    return { $ref: rename("#") };
  }
}

/** Zod names unnamed parts `__schema0`, `__schema1` …, starting again in each schema. */
function componentName(owner: string, name: string): string {
  return name.startsWith("__") ? `${owner}${name}` : name;
}

function withReferences(schema: object, rename: (reference: string) => string): JsonSchema {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === "$ref" && typeof value === "string" ? rename(value) : value,
  );
  return JSON.parse(text) as JsonSchema;
}
