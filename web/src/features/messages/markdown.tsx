import type { ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import { Icon } from "../../ui/icon.tsx";
import { isPlainForm } from "./markdown-bounds.ts";
import { markdownTables } from "./markdown-tables.ts";
import { PlainText } from "./plain-text.tsx";
import { outside, safeHref } from "./safe-link.ts";
import { visibleText } from "../../lib/visible-text.ts";

/**
 * Renders untrusted Markdown. HTML in it is shown as text, links lead to http, https and mailto only, and images become
 * links, so nothing is fetched. Text that would take long to parse is shown as plain text.
 */
export function Markdown({ text }: { text: string }): ReactNode {
  const shown = visibleText(text);
  if (isPlainForm(shown)) return <PlainText text={text} />;
  return (
    <div className={form} dir="auto">
      <ReactMarkdown
        remarkPlugins={plugins}
        components={components}
        urlTransform={(address) => safeHref(address) ?? ""}
      >
        {shown}
      </ReactMarkdown>
    </div>
  );
}

const plugins = [markdownTables];

const components: Components = {
  a: ({ href, children }) =>
    href === undefined || href === "" ? (
      <span>{children}</span>
    ) : (
      <a href={href} title={href} {...outside} className="text-accent underline underline-offset-2">
        {children}
      </a>
    ),
  img: ({ src, alt }) => <OutsideImage address={src} alt={alt} />,
};

/** Styles of Markdown elements within a message of 13 px. */
const form = [
  "[overflow-wrap:anywhere] [&>*+*]:mt-2",
  "[&_h1]:text-lg [&_h1]:font-semibold [&_h2]:text-[14px] [&_h2]:font-semibold [&_h3]:font-semibold",
  "[&_h4]:font-semibold [&_h5]:font-semibold [&_h6]:font-semibold",
  "[&_ul]:list-disc [&_ul]:pl-5 [&_ol]:list-decimal [&_ol]:pl-6 [&_li>p+*]:mt-1 [&_li+li]:mt-0.5",
  "[&_blockquote]:border-l-2 [&_blockquote]:border-line-strong [&_blockquote]:pl-3 [&_blockquote]:text-muted",
  "[&_hr]:border-line [&_code]:rounded-sm [&_code]:bg-raised [&_code]:px-1 [&_code]:text-sm",
  "[&_pre]:max-h-[32rem] [&_pre]:overflow-auto [&_pre]:rounded-md [&_pre]:border [&_pre]:border-line [&_pre]:bg-raised [&_pre]:p-2",
  "[&_pre_code]:p-0 [&_pre_code]:whitespace-pre [&_pre_code]:[overflow-wrap:normal]",
  "[&_table]:block [&_table]:max-w-full [&_table]:overflow-x-auto [&_table]:text-sm",
  "[&_th]:border [&_th]:border-line [&_th]:bg-raised [&_th]:px-2 [&_th]:text-left [&_td]:border [&_td]:border-line [&_td]:px-2",
].join(" ");

/** An image of another host, as a link. */
function OutsideImage({ address, alt }: { address: unknown; alt: string | undefined }): ReactNode {
  const href = safeHref(address);
  const label = alt === undefined || alt === "" ? "Image" : alt;
  if (href === undefined || href.startsWith("mailto:")) return <span className="text-muted">[{label}]</span>;
  return (
    <a
      href={href}
      title={href}
      {...outside}
      className="inline-flex max-w-full items-center gap-1.5 rounded-sm border border-line bg-raised px-1.5 align-middle text-xs"
    >
      <Icon name="external" size={12} />
      <span className="truncate">
        {label} · {new URL(href).host}
      </span>
    </a>
  );
}
