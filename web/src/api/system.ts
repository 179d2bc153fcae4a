import { ApiError } from "./api-error.ts";

/** Routes about the process itself: they need no session and belong to no environment. */

export type Readiness = { ready: boolean; checks: Record<string, string> };

/** Also works for a server that is not ready: it responds with 503 and the same body. */
export async function fetchReadiness(signal: AbortSignal): Promise<Readiness> {
  const response = await fetch("/readyz?reads=true", { signal });
  if (response.status !== 200 && response.status !== 503) throw await ApiError.of(response);
  return (await response.json()) as Readiness;
}

/** Prometheus' text format. Proxies often restrict access to it. */
export async function fetchMetrics(signal: AbortSignal): Promise<string> {
  return (await fetchSystem("/metrics", signal)).text();
}

export async function fetchVersion(signal: AbortSignal): Promise<string> {
  const document = (await (await fetchSystem("/openapi.json", signal)).json()) as { info: { version: string } };
  return document.info.version;
}

async function fetchSystem(path: string, signal: AbortSignal): Promise<Response> {
  const response = await fetch(path, { signal });
  if (!response.ok) throw await ApiError.of(response);
  return response;
}
