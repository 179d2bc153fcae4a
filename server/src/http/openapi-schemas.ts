import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/**
 * Turns Zod schemas into JSON Schemas that can stand anywhere in one OpenAPI document. What a schema defines for
 * itself (named or recursive parts) moves to the document's components, and references follow.
 */
export class SchemaCollector {
  readonly components: Record<string, JsonSchema>;

  constructor(components: Record<string, JsonSchema>) {
    this.components = components;
  }

  /** `owner` names parts that have no name of their own, so it must be unique to the schema. */
  inline(owner: string, schema: z.ZodType): JsonSchema {
    const {
      $schema: _dialect,
      $defs = {},
      ...root
    } = z.toJSONSchema(schema, {
      target: "draft-2020-12",
      io: "input",
      unrepresentable: "any",
      // Zod leaves these out where a transform follows; ours are stated in the terms of the input.
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

/** Zod calls what it has to name by itself `__schema0`, `__schema1` …, anew in each schema. */
function componentName(owner: string, name: string): string {
  return name.startsWith("__") ? `${owner}${name}` : name;
}

function withReferences(schema: object, rename: (reference: string) => string): JsonSchema {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === "$ref" && typeof value === "string" ? rename(value) : value,
  );
  return JSON.parse(text) as JsonSchema;
}
