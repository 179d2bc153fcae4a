import { Counter, Histogram, type Registry } from "prom-client";

type QueryEvent = { name: string; seconds: number; outcome: string };

/** Durations and outcomes of span-store queries, by the kind of query. */
export function createQueryMetrics(registry: Registry): (event: QueryEvent) => void {
  const registers = [registry];
  const seconds = new Histogram({
    name: "spanway_query_seconds",
    help: "Duration of a span-store query, including the wait in its queue",
    labelNames: ["query"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers,
  });
  const outcomes = new Counter({
    name: "spanway_queries_total",
    help: "Span-store queries by outcome; refused means that too many waited",
    labelNames: ["query", "outcome"],
    registers,
  });
  return ({ name, seconds: duration, outcome }) => {
    seconds.observe({ query: name }, duration);
    outcomes.inc({ query: name, outcome });
  };
}
