import type { Registry } from "prom-client";
import { endpoint } from "../../http/endpoint.ts";
import { content } from "../../http/reply.ts";

export const getMetrics = (deps: { registry: Registry }) =>
  endpoint({
    id: "get_metrics",
    method: "GET",
    path: "/metrics",
    summary: "Metrics for Prometheus",
    description: "Figures of this process, without names or data of organizations.",
    tags: ["System"],
    auth: "none",
    success: { status: 200, contentType: "text/plain" },
    errors: [],
    handler: async () => content(deps.registry.contentType, await deps.registry.metrics()),
  });
