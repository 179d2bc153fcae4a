import { z } from "zod";
import { endpoint } from "../../http/endpoint.ts";

export const getLivez = () =>
  endpoint({
    id: "get_livez",
    method: "GET",
    path: "/livez",
    summary: "Check liveness",
    tags: ["System"],
    auth: "none",
    success: { status: 200, schema: z.object({ status: z.literal("ok") }) },
    errors: [],
    handler: () => ({ status: "ok" as const }),
  });
