import { z } from "zod";
import { ServiceError } from "../domain/errors.ts";
import { requiredStartQuery } from "../http/query.ts";
import { apiLimits } from "./limits.ts";
import type { ExportFormat } from "../storage/spans/span-export.ts";
import { selectionQuery } from "./read-filters.ts";

/** The query parameters of every export. `readExportFields` reads `fields`. */
export function exportQuery<Format extends ExportFormat>(formats: readonly [Format, ...Format[]]) {
  const formatMessage = `format must be one of ${formats.join(", ")}`;
  return {
    ...selectionQuery(),
    ...requiredStartQuery(),
    format: z
      .string({ error: formatMessage })
      .optional()
      .transform((text, context): Format => {
        const format = text === undefined ? formats[0] : formats.find((known) => known === text);
        if (format !== undefined) return format;
        context.addIssue({ code: "custom", message: formatMessage });
        return z.NEVER;
      })
      .meta({ enum: formats, default: formats[0] }),
    fields: z
      .string()
      .max(apiLimits.exportFieldsChars)
      .optional()
      .meta({ description: "Comma-separated names, in the order of the columns. Default: the fields of lists." }),
  };
}

/** @throws ServiceError `invalid_request` that names the unknown fields */
export function readExportFields(
  text: string | undefined,
  { all, byDefault }: { all: readonly string[]; byDefault: readonly string[] },
): readonly string[] {
  const names = [...new Set((text ?? "").split(",").map((name) => name.trim()))].filter((name) => name !== "");
  if (names.length === 0) return byDefault;
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length === 0) return names;
  const message = `fields has ${unknown.slice(0, 10).join(", ")}, which exports do not have; known are ${all.join(", ")}`;
  throw new ServiceError("invalid_request", message, { errors: { fields: [message] } });
}

/** A file has no place for warnings, so an export refuses what a list only warns about. */
export function refuseWarnings(warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  const message = `${warnings.join("; ")}. An export takes no such parameters: name metadata as metadata__<key>`;
  throw new ServiceError("invalid_request", message);
}
