import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

export type DocsPage = { html: string; contentSecurityPolicy: string };

/** The API reference: one self-contained page that renders `/openapi.json` of the server it came from. */
export async function loadDocsPage(): Promise<DocsPage> {
  const [template, style, script] = await Promise.all(
    ["page.html", "page.css", "page.js"].map((name) => readFile(new URL(`docs-page/${name}`, import.meta.url), "utf8")),
  );
  if (template === undefined || style === undefined || script === undefined)
    throw new Error("the docs page is incomplete");
  return {
    html: template
      .replace("<!-- style -->", () => `<style>${style}</style>`)
      .replace("<!-- script -->", () => `<script>${script}</script>`),
    contentSecurityPolicy: [
      "default-src 'none'",
      "connect-src 'self'",
      `style-src ${hashOf(style)}`,
      `script-src ${hashOf(script)}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  };
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
