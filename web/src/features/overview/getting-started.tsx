import { useMutation } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { bodyOf, type Environment } from "../../api/client.ts";
import { useApi, useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { useMe } from "../../api/use-me.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { languageNames, languages, snippet, type Language } from "./snippets.ts";

/** Shown for an instance without data: how to send some. */
export function GettingStarted(): ReactNode {
  const environment = useEnvironment();
  const [language, setLanguage] = useState<Language>("curl");
  const [key, setKey] = useState<string>();
  const text = snippet(language, location.origin, key ?? `spw_${environment}_…`);
  return (
    <div className="mx-auto flex max-w-[760px] flex-col gap-5 px-4 py-8 md:py-12">
      <header>
        <h1 className="text-2xl font-semibold tracking-tight">Send your first span</h1>
        <p className="mt-1 text-muted">
          Nothing was recorded in <span className="font-medium text-text">{environment}</span> yet. Run one of these,
          and this page shows what arrives.
        </p>
      </header>
      <section aria-label="A key" className="flex flex-col gap-2">
        <h2 className="font-medium">1. A key</h2>
        {key === undefined ? <MakeKey environment={environment} onMade={setKey} /> : <ShownKey value={key} />}
      </section>
      <section aria-label="A call" className="flex flex-col gap-2">
        <h2 className="font-medium">2. A call</h2>
        <div className="overflow-hidden rounded-md border border-line bg-panel">
          <Tabs
            label="Ways to send"
            value={language}
            tabs={languages.map((value) => ({ value, label: languageNames[value] }))}
            onValueChange={setLanguage}
            actions={<CopyButton text={text} label="Copy the code" />}
          />
          <pre
            className="overflow-x-auto p-3 text-sm leading-5"
            tabIndex={0}
            aria-label={`Code for ${languageNames[language]}`}
          >
            {text}
          </pre>
        </div>
        <p className="text-sm text-muted">
          {language === "otlp"
            ? "Traces of OpenTelemetry, OpenInference, OpenLLMetry, the Vercel AI SDK, Langfuse and more arrive without changes to the code."
            : "The model spanway/echo repeats its prompt. Real models need a key of their provider."}{" "}
          <a href="/docs" className="text-accent underline">
            API reference
          </a>
        </p>
      </section>
      <p
        role="status"
        className="flex items-center gap-2.5 rounded-md border border-line bg-panel px-3 py-2.5 text-muted"
      >
        <span aria-hidden className="relative flex size-2">
          <span className="absolute inline-flex size-full animate-ping rounded-full bg-accent opacity-60" />
          <span className="relative inline-flex size-2 rounded-full bg-accent" />
        </span>
        Waiting for the first span
      </p>
    </div>
  );
}

const firstKeyName = "First key";

/** The key that this page created before it was reloaded: it cannot be shown again. */
function useFirstKey(environment: Environment, mayManage: boolean) {
  const keys = useApiQuery(
    ["api-keys", "first"],
    (api, signal) => bodyOf(api.GET("/api/api-keys/", { params: { query: { page_size: 1000 } }, signal })),
    { enabled: mayManage },
  );
  return keys.data?.results.findLast((key) => key.name === firstKeyName && key.environment === environment);
}

/** Admins create a permanent key, others a temporary one. People without permission see whom to ask. */
function MakeKey({ environment, onMade }: { environment: Environment; onMade: (key: string) => void }): ReactNode {
  const api = useApi();
  const { data: me } = useMe();
  const maySend = me?.permissions.includes("spans:ingest") === true;
  const mayManage = me?.permissions.includes("keys:manage") === true;
  const before = useFirstKey(environment, mayManage);
  const make = useMutation({
    mutationFn: async () =>
      mayManage
        ? await bodyOf(api.POST("/api/api-keys/", { body: { name: firstKeyName, environment, expires_at: null } }))
        : await bodyOf(api.POST("/api/temporary-keys/", { body: { environment, expires_in: 86_400 } })),
    onSuccess: ({ key }) => onMade(key),
  });
  if (me === undefined) return <div className="h-7" />;
  if (!maySend) {
    return (
      <p className="text-muted">Your role reads only. Ask an admin of your organization to send the first span.</p>
    );
  }
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center gap-3">
        <Button variant="primary" icon="key" isBusy={make.isPending} onClick={() => make.mutate()}>
          {before === undefined ? "Create a key" : "Create another key"}
        </Button>
        <span className="text-sm text-muted">
          {before !== undefined
            ? `“${firstKeyName}” (${before.prefix}…) was made before, and a key is shown once. Use it if you kept it, or create another.`
            : mayManage
              ? "Or use the one that the first start printed."
              : "It works for a day. An admin can make one that stays."}
        </span>
      </div>
      {make.error !== null && <ErrorPanel error={make.error} onRetry={() => make.mutate()} />}
    </div>
  );
}

function ShownKey({ value }: { value: string }): ReactNode {
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center gap-1 rounded-md border border-line bg-panel py-0.5 pr-1 pl-3">
        <span className="figures min-w-0 flex-1 truncate select-all">{value}</span>
        <CopyButton text={value} label="Copy the key" />
      </div>
      <span className="text-sm text-muted">Shown only once. It is in the code below.</span>
    </div>
  );
}
