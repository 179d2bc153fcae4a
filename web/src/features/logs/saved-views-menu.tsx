import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent, type ReactNode } from "react";
import { bodyOf } from "../../api/client.ts";
import { useApi, useApiQuery, useEnvironment } from "../../api/use-api.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Icon } from "../../ui/icon.tsx";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import { PopupButton } from "./popup-button.tsx";

type MenuProps = { search: string; mayWrite: boolean; onOpen: (search: string) => void };

/** The organization's named searches. */
export function SavedViewsMenu(props: MenuProps): ReactNode {
  return (
    <PopupButton icon="bookmark" label="Views">
      {(close) => <Views {...props} close={close} />}
    </PopupButton>
  );
}

const key = ["saved-views", "logs"];

function Views({ search, mayWrite, onOpen, close }: MenuProps & { close: () => void }): ReactNode {
  const api = useApi();
  const views = useApiQuery(key, (api, signal) => {
    const params = { query: { screen: "logs", page_size: 200 } };
    return bodyOf(api.GET("/api/saved-views/", { params, signal }));
  });
  const change = useViewChanges();
  const remove = (id: string): void =>
    change.mutate(() => api.DELETE("/api/saved-views/{id}/", { params: { path: { id } } }));
  return (
    <>
      <div className="py-1">
        {views.data?.results.map(({ id, name, search: saved }) => (
          <div key={id} className="group flex h-row items-center hover:bg-raised">
            <button
              type="button"
              className={`min-w-0 flex-1 truncate px-3 text-left ${saved === search ? "text-accent" : ""}`}
              onClick={() => {
                onOpen(saved);
                close();
              }}
            >
              <bdi>{visibleLine(name)}</bdi>
            </button>
            {mayWrite && (
              <button
                type="button"
                aria-label={`Delete ${visibleLine(name)}`}
                title="Delete for everybody"
                className="px-3 text-faint opacity-0 group-hover:opacity-100 hover:text-error focus-visible:opacity-100 [@media(hover:none)]:opacity-100"
                onClick={() => remove(id)}
              >
                <Icon name="trash" size={14} />
              </button>
            )}
          </div>
        ))}
        {views.data?.results.length === 0 && <p className="px-3 py-1 text-sm text-faint">No view is saved yet.</p>}
        {views.isPending && <p className="px-3 py-1 text-sm text-faint">Loading…</p>}
      </div>
      {views.error !== null && <ErrorPanel error={views.error} onRetry={() => void views.refetch()} />}
      {mayWrite && <NewView search={search} change={change} />}
      {change.error !== null && <ErrorPanel error={change.error} />}
    </>
  );
}

type Changes = ReturnType<typeof useViewChanges>;

function NewView({ search, change }: { search: string; change: Changes }): ReactNode {
  const api = useApi();
  const [name, setName] = useState("");
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    change.mutate(() => api.POST("/api/saved-views/", { body: { screen: "logs", name, search } }), {
      onSuccess: () => setName(""),
    });
  };
  return (
    <form className="flex border-t border-line" onSubmit={onSubmit}>
      <input
        aria-label="Name of the view"
        placeholder="Save this view as…"
        className="h-8 min-w-0 flex-1 bg-transparent px-3 outline-none"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <button
        type="submit"
        disabled={name.trim() === "" || change.isPending}
        className="px-3 text-accent disabled:text-faint"
      >
        Save
      </button>
    </form>
  );
}

function useViewChanges() {
  const queries = useQueryClient();
  const environment = useEnvironment();
  return useMutation({
    mutationFn: (send: () => Promise<unknown>) => send(),
    onSuccess: () => queries.invalidateQueries({ queryKey: [environment, ...key] }),
  });
}
