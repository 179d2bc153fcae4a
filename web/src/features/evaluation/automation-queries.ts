import { keepPreviousData } from "@tanstack/react-query";
import { bodyOf } from "../../api/client.ts";
import type { components, operations } from "../../api/schema.gen.ts";
import { useApiQuery } from "../../api/use-api.ts";
import { useChange } from "./use-change.ts";

export type Automation = components["schemas"]["Automation"];
export type Score = components["schemas"]["Score"];
type NewAutomation = NonNullable<operations["create_automation"]["requestBody"]>["content"]["application/json"];

/** The most automations that an organization may have. */
const automationsMax = 200;
/** New errors appear while the page is open. */
const refreshMs = 30_000;

/** Automations of both environments, since conditions and evaluators belong to both. */
export function useAutomations() {
  return useApiQuery(
    ["automations"],
    async (api, signal) => {
      const query = { page_size: automationsMax };
      const { results } = await bodyOf(api.GET("/automation/automations/", { params: { query }, signal }));
      return results;
    },
    { refetchInterval: refreshMs },
  );
}

export function useAutomation(automation_id: string, isEnabled: boolean) {
  return useApiQuery(
    ["automation", automation_id],
    (api, signal) =>
      bodyOf(api.GET("/automation/automations/{automation_id}/", { params: { path: { automation_id } }, signal })),
    { enabled: isEnabled, refetchInterval: refreshMs },
  );
}

type Save = { id: string | undefined; body: Record<string, unknown> };

/** Creates an automation, or updates the one with the id. `body` comes from the form; the server validates it. */
export function useSaveAutomation() {
  return useChange("automation", (api, { id, body }: Save): Promise<Automation> => {
    if (id === undefined) return bodyOf(api.POST("/automation/automations/", { body: body as NewAutomation }));
    const params = { path: { automation_id: id } };
    return bodyOf(api.PATCH("/automation/automations/{automation_id}/", { params, body }));
  });
}

export function useDeleteAutomation() {
  return useChange("automation", async (api, automation_id: string) => {
    await api.DELETE("/automation/automations/{automation_id}/", { params: { path: { automation_id } } });
    return undefined;
  });
}

export const scoresPageSize = 20;
const scoresRefreshMs = 4000;

/** The scores of an automation, newest first. */
export function useAutomationScores(automation_id: string, page: number) {
  const query = { automation_id, page, page_size: scoresPageSize };
  return useApiQuery(
    ["automation scores", query],
    (api, signal) => bodyOf(api.GET("/api/scores/", { params: { query }, signal })),
    // New scores appear on the first page.
    { placeholderData: keepPreviousData, refetchInterval: page === 1 ? scoresRefreshMs : false },
  );
}
