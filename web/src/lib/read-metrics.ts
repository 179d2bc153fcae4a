/** Parses values by name from Prometheus' text format; values with the same name and different labels are added. */
export function readMetrics(text: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, name, value] = /^([a-zA-Z_:][\w:]*)(?:\{.*\})? (\S+)/.exec(line) ?? [];
    const figure = Number(value);
    if (name !== undefined && Number.isFinite(figure)) found.set(name, (found.get(name) ?? 0) + figure);
  }
  return found;
}
