import { randomUUID } from "node:crypto";
import type { FormFile } from "./read-form.ts";

/** Writes a form as pieces of a request body. The file is not copied. */
export function writeForm(
  fields: ReadonlyArray<readonly [name: string, text: string]>,
  file: FormFile,
): { contentType: string; body: readonly Buffer[] } {
  // Unguessable, so that no field can contain it.
  const boundary = `spanway-${randomUUID()}`;
  const head = fields.map(([name, text]) => `--${boundary}\r\n${disposition(name)}\r\n\r\n${text}\r\n`).join("");
  const named = `${disposition("file")}; filename="${quoted(file.name)}"\r\ncontent-type: ${mediaType(file)}`;
  const body = [
    Buffer.from(`${head}--${boundary}\r\n${named}\r\n\r\n`),
    file.bytes,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ];
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}

function disposition(name: string): string {
  return `content-disposition: form-data; name="${quoted(name)}"`;
}

/** Escapes names as browsers do. */
function quoted(text: string): string {
  return text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}

function mediaType({ mediaType: type }: FormFile): string {
  return /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : "application/octet-stream";
}
