import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Api } from "../../api/client.ts";
import { useApi, useEnvironment } from "../../api/use-api.ts";
import { downloadText } from "../../charts/download.ts";
import { Button } from "../../ui/button.tsx";
import { useToast } from "../../ui/toast.tsx";

type ExportProps = {
  window: { start: string; end?: string };
  /** The customers to export; undefined for all. */
  customersOf: ((api: Api) => Promise<readonly string[]>) | undefined;
  period: "day" | "month";
};

/** Exports usage per customer, period and model as a file. */
export function UsageExport({ window, customersOf, period }: ExportProps): ReactNode {
  const api = useApi();
  const environment = useEnvironment();
  const say = useToast();
  const { start, end } = window;
  const download = useMutation({
    mutationFn: async () => {
      const value = await customersOf?.(api);
      const filters = value === undefined ? {} : { customer_identifier: { operator: "in", value } };
      const { data, response } = await api.POST("/api/users/export/", {
        params: { query: { start_time: start, ...(end && { end_time: end }), environment, period, format: "csv" } },
        body: { filters },
        parseAs: "text",
      });
      const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
      downloadText(name ?? "usage.csv", "text/csv;charset=utf-8", data ?? "");
    },
    onError: (error) => say.failed("The usage was not exported", error),
  });
  return (
    <Button
      icon="download"
      isBusy={download.isPending}
      title={`Usage of each ${period} (UTC) and model, for spreadsheets`}
      onClick={() => download.mutate()}
    >
      <span>
        <span className="max-sm:sr-only">Usage </span>CSV
      </span>
    </Button>
  );
}
