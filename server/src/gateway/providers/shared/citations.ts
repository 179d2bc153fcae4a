import { isObject } from "../../../lib/json.ts";
import type { UrlCitation } from "../provider.ts";

/** Collects the citations of blocks that arrive in pieces. */
export type CitationGatherer = {
  open(index: unknown, citations: unknown): void;
  addText(index: unknown, text: string): void;
  cite(index: unknown, citation: unknown): void;
  close(index: unknown): UrlCitation[];
};

export function createCitationGatherer(): CitationGatherer {
  const blocks = new Map<unknown, { start: number; citations: unknown[] }>();
  let length = 0;
  return {
    open: (index, citations) =>
      void blocks.set(index, {
        start: length,
        citations: Array.isArray(citations) ? [...(citations as unknown[])] : [],
      }),
    addText: (index, text) => {
      if (blocks.has(index)) length += text.length;
    },
    cite: (index, citation) => void blocks.get(index)?.citations.push(citation),
    close: (index) => {
      const block = blocks.get(index);
      blocks.delete(index);
      return block === undefined ? [] : citedPages(block.citations, { start: block.start, end: length });
    },
  };
}

/**
 * The web pages that a text block cites; citations of documents have no URL, and no counterpart in a chat completion.
 */
function citedPages(citations: readonly unknown[], { start, end }: { start: number; end: number }): UrlCitation[] {
  const pages = new Map<string, UrlCitation>();
  for (const citation of citations) {
    if (!isObject(citation) || typeof citation["url"] !== "string") continue;
    const { url, title } = citation;
    const page = { url, title: typeof title === "string" ? title : "", start_index: start, end_index: end };
    if (!pages.has(url)) pages.set(url, { type: "url_citation", url_citation: page });
  }
  return [...pages.values()];
}
