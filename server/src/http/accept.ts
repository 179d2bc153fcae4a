/**
 * Whether a client prefers HTML to JSON by its `Accept` header, in the order of its weights.
 * @param counts `named`: only if it names HTML, as browsers do; `any`: also by a wildcard, as tools such as curl send
 */
export function prefersHtml(accept: string | undefined, counts: "named" | "any"): boolean {
  const weights = weightsIn(accept ?? "*/*");
  const wildcard = counts === "any" ? (weights.get("text/*") ?? weights.get("*/*")) : undefined;
  const html = weights.get("text/html") ?? wildcard ?? 0;
  return html > 0 && html >= (weights.get("application/json") ?? 0);
}

function weightsIn(accept: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of accept.toLowerCase().split(",")) {
    const [type = "", ...params] = part.split(";").map((each) => each.trim());
    const q = params.map((param) => /^q\s*=\s*(.*)$/.exec(param)?.[1]).find((value) => value !== undefined);
    weights.set(type, Math.max(weights.get(type) ?? 0, q === undefined ? 1 : Number(q) || 0));
  }
  return weights;
}
