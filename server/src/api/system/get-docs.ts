import { endpoint } from "../../http/endpoint.ts";
import type { PageFile } from "../../http/page/built-page.ts";
import { answerFile, answerUnbuilt } from "../../http/page/page-route.ts";

/** `page` is the built `docs.html`; undefined if the web application is not built. */
export const getDocs = (deps: { page: PageFile | undefined }) =>
  endpoint({
    id: "get_docs",
    method: "GET",
    path: "/docs",
    summary: "The API reference as a page",
    description: "Requests can be sent from the page, with a key or as the person signed in to the web application.",
    tags: ["System"],
    auth: "none",
    success: { status: 200, contentType: "text/html" },
    errors: [],
    handler: ({ headers }) => (deps.page === undefined ? answerUnbuilt() : answerFile({ headers }, deps.page)),
  });
