import { ServiceError } from "../../domain/errors.ts";
import { BadMultipart, boundaryOf, parseMultipart, type FormPart } from "../../lib/multipart.ts";
import { gatewayLimits } from "../limits.ts";

/** A parsed form: its fields in order with unchanged names, and the file named `file`. */
export type Form = { fields: Array<[name: string, text: string]>; file: FormFile | undefined };

export type FormFile = {
  /** "" if none was sent. */
  name: string;
  /** As declared, without parameters; "" if none was declared. */
  mediaType: string;
  /** A slice of the body, not a copy. */
  bytes: Buffer;
};

/** The error message for a file, or a body, that is too large. */
export const fileTooLarge = `The file must be at most ${gatewayLimits.audioFileBytes / 2 ** 20} MB (${gatewayLimits.audioFileBytes} bytes).`;

/**
 * Reads a `multipart/form-data` body, with its parts in any order.
 * @throws ServiceError `invalid_request`, or `payload_too_large` for a file beyond the limit
 */
export function readForm(bytes: Buffer, contentType: string): Form {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) {
    throw new ServiceError("invalid_request", "The body must be multipart/form-data with a boundary, and hold a file.");
  }
  const form: Form = { fields: [], file: undefined };
  for (const part of partsOf(bytes, boundary)) {
    if (part.name === "file") form.file = readFile(part, form.file);
    else if (part.fileName === undefined) form.fields.push([part.name, readField(part)]);
    else throw bad(part.name, "is an unexpected file: send the recording as file");
  }
  return form;
}

function partsOf(bytes: Buffer, boundary: string): FormPart[] {
  try {
    return parseMultipart(bytes, boundary, gatewayLimits.formFields);
  } catch (error) {
    if (!(error instanceof BadMultipart)) throw error;
    throw new ServiceError("invalid_request", `The body ${error.message}: it is not well-formed multipart/form-data.`);
  }
}

function readFile({ fileName, mediaType, bytes }: FormPart, before: FormFile | undefined): FormFile {
  if (before !== undefined) throw bad("file", "must be one file");
  if (bytes.length > gatewayLimits.audioFileBytes) throw new ServiceError("payload_too_large", fileTooLarge);
  return { name: fileName ?? "", mediaType, bytes };
}

function readField({ name, bytes }: FormPart): string {
  if (bytes.length > gatewayLimits.formFieldBytes)
    throw bad(name, `must be at most ${gatewayLimits.formFieldBytes} bytes`);
  return bytes.toString("utf8");
}

function bad(param: string, message: string): ServiceError {
  return new ServiceError("invalid_request", `${param} ${message}.`, { errors: { [param]: [message] } });
}
