import SwaggerUI, { type ReferenceRequest } from "swagger-ui-dist/swagger-ui-es-bundle.js";
import "./docs.css";

/**
 * The API reference: Swagger UI over this server's own `/openapi.json`, whose requests use the session of the web
 * application.
 */

const environment = document.querySelector<HTMLSelectElement>("#environment");
const account = document.querySelector("#account");
if (environment === null || account === null) throw new Error("docs.html lacks an element");

void showAccount();
environment.addEventListener("change", () => void showAccount());

SwaggerUI({
  dom_id: "#reference",
  url: "/openapi.json",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  // Each highlighted example costs a separate render; a response may have megabytes.
  syntaxHighlight: false,
  requestInterceptor: withSession,
});

/** A request without a key uses the signed-in person's session, in the chosen environment. */
function withSession(request: ReferenceRequest): ReferenceRequest {
  const hasKey = Object.keys(request.headers).some((name) =>
    /^(?:authorization|x-api-key|x-goog-api-key)$/i.test(name),
  );
  if (!hasKey) request.headers["X-Spanway-Environment"] = environment?.value ?? "prod";
  return request;
}

async function showAccount(): Promise<void> {
  if (account === null) return;
  const response = await fetch("/api/auth/me/", {
    headers: { "x-spanway-environment": environment?.value ?? "prod" },
  }).catch(() => undefined);
  const me = response?.ok === true ? ((await response.json()) as { email?: string }) : undefined;
  account.textContent =
    me?.email === undefined ? "Not signed in: Authorize takes an API key" : `Requests are sent as ${me.email}`;
}
