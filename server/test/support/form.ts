/** A part of a form: its name, its content, and for a file its file name. */
export type Part = [name: string, value: string | Buffer, file?: { name?: string; type?: string }];

/** A form as clients write it, with the parts in this order. */
export function form(...parts: Part[]): { bytes: Buffer; type: string } {
  const pieces = parts.flatMap(([name, value, file]) => {
    const filename = file === undefined ? "" : `; filename="${file.name ?? ""}"`;
    const type = file === undefined ? "" : `\r\nContent-Type: ${file.type ?? "application/octet-stream"}`;
    const head = `--b0undary\r\nContent-Disposition: form-data; name="${name}"${filename}${type}\r\n\r\n`;
    return [Buffer.from(head), Buffer.from(value), Buffer.from("\r\n")];
  });
  return {
    bytes: Buffer.concat([...pieces, Buffer.from("--b0undary--\r\n")]),
    type: "multipart/form-data; boundary=b0undary",
  };
}
