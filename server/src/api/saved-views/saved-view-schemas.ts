import { z } from "zod";
import { ServiceError } from "../../domain/errors.ts";
import type { SavedView } from "../../domain/saved-view.ts";
import { apiLimits } from "../limits.ts";
import type { ControlStores } from "../../storage/control/control-stores.ts";
import { nameSchema } from "../organizations/schemas.ts";

export type SavedViewDeps = { stores: Pick<ControlStores, "savedViews" | "transaction">; nowMs: () => number };

const screen = z
  .string()
  .regex(/^[a-z][a-z-]{0,39}$/, "must be the name of a screen: lower-case letters and hyphens")
  .meta({ description: "The first part of the screen's path.", examples: ["logs"] });
const search = z
  .string()
  .max(apiLimits.savedViewSearchChars)
  .regex(/^[^\p{Cc}]*$/u, "must not contain control characters")
  .meta({ description: "The query string of its URL, without `?`.", examples: ["q=status%3Aerror&range=7d"] });

export const savedViewSchema = z
  .object({
    id: z.string(),
    screen: z.string(),
    name: z.string(),
    search: z.string(),
    created_at: z.string().meta({ format: "date-time" }),
    updated_at: z.string().meta({ format: "date-time" }),
  })
  .meta({ id: "SavedView" });

export const newSavedViewSchema = z.object({ screen, name: nameSchema, search });
export const savedViewChangeSchema = z.object({ name: nameSchema.optional(), search: search.optional() });

export const savedViewParams = z.object({ id: z.string() });

export function presentSavedView(view: SavedView): z.input<typeof savedViewSchema> {
  const { id, screen, name, search, created_at, updated_at } = view;
  return { id, screen, name, search, created_at, updated_at };
}

export function savedViewNotFound(): ServiceError {
  return new ServiceError("not_found", "There is no such saved view.");
}
