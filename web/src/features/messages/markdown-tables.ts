import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmTable } from "micromark-extension-gfm-table";
import type { Options } from "react-markdown";

type Plugin = NonNullable<Options["remarkPlugins"]>[number];
type Extended = { data(): Record<string, unknown> };

/** Tables are the only part of GitHub's Markdown that is supported: models write them often. */
export const markdownTables: Plugin = function markdownTables(this: unknown) {
  const data = (this as Extended).data();
  extend(data, "micromarkExtensions", gfmTable());
  extend(data, "fromMarkdownExtensions", gfmTableFromMarkdown());
};

function extend(data: Record<string, unknown>, name: string, extension: unknown): void {
  const known = data[name];
  data[name] = [...(Array.isArray(known) ? (known as unknown[]) : []), extension];
}
