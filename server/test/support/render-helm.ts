/** The values visible to templates of a chart; values of a chart are plain YAML. */
export type Values = { [name: string]: unknown };

/**
 * Renders a template as Helm does: `if`, `if not`, `range` over a map, values, `quote` and `toJson`.
 * @param onUse called with each value that the template uses.
 * @throws Error that names a missing value, or an unknown construct.
 */
export function renderTemplate(template: string, scope: Values, onUse?: (path: string) => void): string {
  // Text and code alternate. `{{-` removes the white space before it.
  const parts = template.replaceAll(/\s*\{\{-/g, "{{").split(/\{\{\s*(.*?)\s*\}\}/);
  return renderParts(parts, scope, onUse ?? (() => undefined));
}

/** Renders up to the `end` of the block, or of the template; removes the processed items from `parts`. */
function renderParts(parts: string[], scope: Values, onUse: (path: string) => void): string {
  let rendered = "";
  while (parts.length > 0) {
    rendered += parts.shift() ?? "";
    const code = parts.shift();
    if (code === undefined || code === "end") return rendered;
    rendered += evaluate(code, parts, scope, onUse);
  }
  return rendered;
}

function evaluate(code: string, parts: string[], scope: Values, onUse: (path: string) => void): string {
  const [, not, condition] = /^if (not )?(\S+)$/.exec(code) ?? [];
  if (condition !== undefined) {
    const holds = isTrue(lookUp(condition, scope, onUse)) !== (not !== undefined);
    const block = renderParts(parts, scope, holds ? onUse : () => undefined);
    return holds ? block : "";
  }
  const [, key, member, map] = /^range (\$\w+), (\$\w+) := (\S+)$/.exec(code) ?? [];
  if (key !== undefined && member !== undefined && map !== undefined) {
    const entries = Object.entries(lookUp(map, scope, onUse) as Values);
    const blocks = entries.map(([name, value]) =>
      renderParts([...parts], { ...scope, [key]: name, [member]: value }, onUse),
    );
    renderParts(parts, { ...scope, [key]: "", [member]: "" }, () => undefined);
    return blocks.join("");
  }
  const [, path, filter] = /^([.$][\w.]+)(?: \| (quote|toJson))?$/.exec(code) ?? [];
  if (path === undefined) throw new Error(`a construct that is not known here: ${code}`);
  const value = lookUp(path, scope, onUse);
  if (filter === "toJson") return JSON.stringify(value);
  return filter === "quote" ? JSON.stringify(String(value)) : String(value);
}

function lookUp(path: string, scope: Values, onUse: (path: string) => void): unknown {
  onUse(path);
  const names = path.startsWith("$") ? [path] : path.slice(1).split(".");
  return names.reduce<unknown>((value, name) => {
    if (value === null || typeof value !== "object" || !(name in value)) throw new Error(`there is no ${path}`);
    return (value as Values)[name];
  }, scope);
}

/** As in Go's templates: empty values are false. */
const isTrue = (value: unknown): boolean =>
  value !== null && typeof value === "object" ? Object.keys(value).length > 0 : Boolean(value);
