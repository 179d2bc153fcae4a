import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";
import { ConversationView } from "./conversation-view.tsx";
import { guessNew, readConversation, toSections, type SpanContent } from "./conversation.ts";
import { Markdown } from "./markdown.tsx";

/** The elements in HTML, with their attributes. */
function elements(html: string): Array<{ name: string; attributes: Array<[string, string]> }> {
  return [...html.matchAll(/<([a-z][a-z\d-]*)((?:\s+[^\s=>]+(?:="[^"]*")?)*)\s*\/?>/gi)].map(
    ([, name = "", attributes = ""]) => ({
      name: name.toLowerCase(),
      attributes: [...attributes.matchAll(/([^\s=]+)(?:="([^"]*)")?/g)].map(([, attribute = "", value = ""]) => [
        attribute.toLowerCase(),
        value,
      ]),
    }),
  );
}

const addresses = new Set([
  "href",
  "src",
  "srcset",
  "action",
  "formaction",
  "data",
  "poster",
  "ping",
  "xlink:href",
  "background",
]);
const mayLoad =
  /^(?:data:(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+|video\/[\w.+-]+);base64,[A-Za-z\d+/=]+|\/api\/media\/[\da-f]{64}\/)$/;
const mayLead = /^(?:https?:\/\/|mailto:)/;
/** Positions of tree rows and alignment of cells, which React sets as single properties. */
const mayStyle = /^(?:(?:(?:top|height|max-height|padding-left):\d+(?:px)?|text-align:(?:left|right|center));?)+$/;
const mayBe = new Set(
  "a article audio bdi blockquote br button code div em figcaption figure h1 h2 h3 h4 h5 h6 header hr img input li ol p path pre section span strong svg table tbody td th thead tr ul video".split(
    " ",
  ),
);
const invisible = ["\u001B", "\u202E", "\u202D", "\u2066", "\u2067"];

/** Whatever a browser would execute, load, or navigate to by itself. */
function dangersIn(html: string): string[] {
  const found = elements(html).flatMap(({ name, attributes }) => [
    ...(mayBe.has(name) ? [] : [name]),
    ...attributes
      .filter(([attribute, value]) => isDangerous(name, attribute, value))
      .map((pair) => `${name} ${pair.join("=")}`),
    ...(name === "a" && !/rel="noopener noreferrer/.test(attributes.map((pair) => `${pair[0]}="${pair[1]}"`).join(" "))
      ? ["a without rel"]
      : []),
  ]);
  if (invisible.some((char) => html.includes(char)) || !html.isWellFormed()) found.push("characters that are not seen");
  return found;
}

function isDangerous(name: string, attribute: string, value: string): boolean {
  if (/^on|^srcdoc$/.test(attribute)) return true;
  if (attribute === "style") return !mayStyle.test(value);
  return addresses.has(attribute) && !(name === "a" ? mayLead : mayLoad).test(value);
}

function expectHarmless(html: string): void {
  expect(dangersIn(html)).toEqual([]);
}

function render(span: SpanContent): string {
  const conversation = readConversation(span);
  const sections = toSections(conversation, guessNew(conversation));
  return renderToStaticMarkup(<ConversationView sections={sections} areChoices={conversation.areChoices} />);
}

const texts = [
  "<script>alert(1)</script>",
  '<img src=x onerror="alert(1)">',
  "<svg onload=alert(1)><a xlink:href='javascript:alert(1)'>x</a></svg>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe><object data=x></object><embed src=x><base href=//evil.example>",
  "<style>*{background:url(//evil.example)}</style><link rel=stylesheet href=//evil.example><meta http-equiv=refresh content=0>",
  "<form action=//evil.example><button formaction=javascript:alert(1)>x</button></form>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](&#106;avascript:alert(1))",
  "[x](java\nscript:alert(1))",
  "[x](\u0001javascript:alert(1))",
  "[x](data:text/html,<script>alert(1)</script>)",
  "[x](vbscript:msgbox)",
  "[x](file:///etc/passwd)",
  "[x](blob:https://evil.example/1)",
  "[x](//evil.example)",
  "[x](/api/auth/logout/)",
  "[x](https://user:pass@evil.example/)",
  "<javascript:alert(1)>",
  "[x]: javascript:alert(1)\n\n[x]",
  "![x](https://evil.example/pixel.png)",
  "![x](javascript:alert(1))",
  "![x](data:image/svg+xml;base64,PHN2Zy8+)",
  '![x](https://evil.example/a.png "onerror=alert(1)")',
  '[a](https://evil.example/" onmouseover="alert(1))',
  "[![x](https://evil.example/a.png)](javascript:alert(1))",
  "\u001B[31mred\u001B]8;;https://evil.example\u0007link",
  "user\u202Egnp.exe\u2066x",
  "half \uD83D and \uDE00",
  "nul \0 byte",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "```html\n<script>alert(1)</script>\n```",
  "`<img src=x onerror=alert(1)>`",
  "<!--><script>alert(1)</script>-->",
  "<![CDATA[<script>alert(1)</script>]]>",
];

test.each([
  "<script>x</script>",
  '<img src="https://evil.example/a.png"/>',
  '<a href="javascript:alert(1)" rel="noopener noreferrer">x</a>',
  '<a href="https://a.example/">x</a>',
  '<p onclick="x">',
  '<p style="background:url(//evil.example)">',
  "\u202E",
])("a dangerous form is detected: %j", (html) => {
  expect(dangersIn(html)).toHaveLength(1);
});

describe.each(texts)("%j", (text) => {
  test("as Markdown", () => {
    expectHarmless(renderToStaticMarkup(<Markdown text={text} />));
  });

  test("in every part of a message", () => {
    const span = {
      prompt_messages: [
        { role: text, name: text, content: text },
        {
          role: "user",
          content: [
            { type: text, text },
            { type: "text", text },
            { type: "image_url", image_url: { url: text } },
            { type: "file", file: { filename: text, file_data: text } },
          ],
        },
        {
          role: "assistant",
          content: text,
          reasoning_content: text,
          refusal: text,
          annotations: [{ url: text, title: text }],
          tool_calls: [{ id: text, function: { name: text, arguments: JSON.stringify({ [text]: text }) } }],
        },
        { role: "tool", tool_call_id: text, content: text },
        { role: "tool", name: text, content: JSON.stringify([{ [text]: text }]) },
        {
          role: "user",
          content: [{ type: "input_audio", input_audio: { data: text, format: text } }, { [text]: text }],
        },
      ],
      completion_message: { role: "assistant", content: text, audio: { data: text, transcript: text } },
    };
    expectHarmless(render(span));
  });
});

test.each([
  ["SVG", "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+"],
  ["HTML that says it is an image", `data:image/png;base64,${btoa("<script>alert(1)</script>")}`],
  ["an image of another host", "https://evil.example/pixel.png"],
  ["a path of this server", "/api/auth/logout/"],
])("no image is rendered from %s", (_name, url) => {
  const html = render({ prompt_messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] });
  expect(elements(html).map(({ name }) => name)).not.toContain("img");
  expectHarmless(html);
});

test("an image is shown with the type of its bytes", () => {
  const url = `data:text/html;base64,${btoa("\x89PNG\r\n\x1a\n\0\0\0\rIHDR")}`;
  const html = render({ prompt_messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] });
  expect(html).toContain('src="data:image/png;base64,');
  expectHarmless(html);
});

test("Markdown is rendered, and HTML in it is shown as text", () => {
  const html = renderToStaticMarkup(<Markdown text={"# A\n\n**b** <b>c</b>\n\n- d\n\n[e](https://e.example/)"} />);
  expect(html).toContain("<h1>A</h1>");
  expect(html).toContain("<strong>b</strong> &lt;b&gt;c&lt;/b&gt;");
  expect(html).toContain('href="https://e.example/"');
});

test("tables", () => {
  const html = renderToStaticMarkup(<Markdown text={"| a | b |\n|---|--:|\n| <b>c</b> | [d](javascript:x) |"} />);
  expect(html).toContain("<td>&lt;b&gt;c&lt;/b&gt;</td>");
  expectHarmless(html);
});

test.each([
  ["quotes in quotes", `${"> ".repeat(5000)}x`],
  ["lists in lists", Array.from({ length: 400 }, (_value, at) => `${"  ".repeat(at)}- x`).join("\n")],
  ["brackets", "[".repeat(20_000)],
  ["closed brackets", "[a](".repeat(8000)],
  ["stars", "*a ".repeat(13_000)],
  ["stars and underscores", "**_".repeat(13_000)],
  ["backquotes", Array.from({ length: 280 }, (_value, at) => "`".repeat(at)).join(" ")],
  ["openings of HTML", "<a ".repeat(13_000)],
  ["references", "[a]: x\n".repeat(5000)],
  ["cells of a table", `${"|a".repeat(700)}|\n${"|-".repeat(700)}|\n`],
  ["rows of a table", `|a|b|\n|-|-|\n${"|x|y|\n".repeat(400)}`],
  ["entities", "&#x;".repeat(10_000)],
  ["one line", "x".repeat(40_000)],
  ["a word per line", "a\n\n".repeat(1400)],
])("no text blocks the page: %s", (_name, text) => {
  // Processor time, because other processes may use the machine.
  const start = process.cpuUsage();
  expectHarmless(renderToStaticMarkup(<Markdown text={text} />));
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(3000);
});
