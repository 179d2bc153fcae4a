import { endpoint } from "../../http/endpoint.ts";
import type { DocsPage } from "../../http/docs-page.ts";
import { content } from "../../http/reply.ts";

export const getDocs = (deps: { page: DocsPage }) =>
  endpoint({
    id: "get_docs",
    method: "GET",
    path: "/docs",
    summary: "The API reference as a page",
    tags: ["System"],
    auth: "none",
    success: { status: 200, contentType: "text/html" },
    errors: [],
    handler: () =>
      content("text/html; charset=utf-8", deps.page.html, {
        headers: { "content-security-policy": deps.page.contentSecurityPolicy, "referrer-policy": "no-referrer" },
      }),
  });
