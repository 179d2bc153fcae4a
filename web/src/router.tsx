import { createRootRoute, createRoute, createRouter, Outlet, retainSearchParams } from "@tanstack/react-router";
import { parseCustomersSearch, parseCustomerSearch } from "./features/customers/search.ts";
import { parseEvaluationSearch } from "./features/evaluation/search.ts";
import { parseLogsSearch } from "./features/logs/search.ts";
import { parseModelsSearch } from "./features/models/search.ts";
import { parseOverviewSearch } from "./features/overview/search.ts";
import { parsePlaygroundSearch } from "./features/playground/search.ts";
import { parseProvidersSearch } from "./features/providers/search.ts";
import { parseCompareSearch, parseSpanSearch } from "./features/spans/search.ts";
import { ownPath } from "./lib/redirect.ts";
import { parseTracesSearch } from "./features/traces/list/search.ts";
import { parseTraceSearch } from "./features/traces/search.ts";
import { parseThreadsSearch } from "./features/threads/search.ts";
import { parseSettingsSearch } from "./features/settings/search.ts";
import { parseWebhooksSearch } from "./features/webhooks/search.ts";
import { parseSearch, stringifySearch } from "./lib/search.ts";
import { IncompleteLink } from "./shell/incomplete-link.tsx";
import { NotFound } from "./shell/not-found.tsx";
import { Shell } from "./shell/shell.tsx";
import { ErrorPanel } from "./ui/error-panel.tsx";
import { lazyPart } from "./ui/lazy-part.tsx";
import { SkeletonRows } from "./ui/skeleton.tsx";
import { parseSharedSearch, sharedNames, strictly } from "./shared-search.ts";

/* Every screen is a separate chunk. A screen with URL parameters of its own gives its route a `validateSearch` from
   `features/<resource>/search.ts`; the component reads it with `getRouteApi("/logs").useSearch()`. */

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: Shell,
  validateSearch: parseSharedSearch,
  search: { middlewares: [retainSearchParams([...sharedNames])] },
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: "/",
  validateSearch: strictly(parseOverviewSearch),
  staticData: { title: "Overview", hasRange: true },
  component: lazyPart(async () => (await import("./routes/overview.tsx")).OverviewScreen),
});

const logs = createRoute({
  getParentRoute: () => shell,
  path: "/logs",
  validateSearch: strictly(parseLogsSearch),
  staticData: { title: "Logs", hasRange: true },
  component: lazyPart(async () => (await import("./routes/logs.tsx")).LogsScreen),
});

const span = createRoute({
  getParentRoute: () => shell,
  path: "/spans/$spanId",
  validateSearch: strictly(parseSpanSearch),
  staticData: { title: "Span" },
  component: lazyPart(async () => (await import("./routes/span.tsx")).SpanScreen),
});

const compare = createRoute({
  getParentRoute: () => shell,
  path: "/compare",
  validateSearch: strictly(parseCompareSearch),
  staticData: { title: "Side by side" },
  component: lazyPart(async () => (await import("./routes/compare.tsx")).CompareScreen),
});

const traces = createRoute({
  getParentRoute: () => shell,
  path: "/traces",
  validateSearch: strictly(parseTracesSearch),
  staticData: { title: "Traces", hasRange: true },
  component: lazyPart(async () => (await import("./routes/traces.tsx")).TracesScreen),
});

const trace = createRoute({
  getParentRoute: () => shell,
  path: "/traces/$traceId",
  staticData: { title: "Trace" },
  validateSearch: strictly(parseTraceSearch),
  component: lazyPart(async () => (await import("./routes/trace.tsx")).TraceScreen),
});

const threads = createRoute({
  getParentRoute: () => shell,
  path: "/threads",
  staticData: { title: "Threads", hasRange: true },
  validateSearch: strictly(parseThreadsSearch),
  component: lazyPart(async () => (await import("./routes/threads.tsx")).ThreadsScreen),
});

const customers = createRoute({
  getParentRoute: () => shell,
  path: "/customers",
  validateSearch: strictly(parseCustomersSearch),
  staticData: { title: "Customers", hasRange: true },
  component: lazyPart(async () => (await import("./routes/customers.tsx")).CustomersScreen),
});

const customer = createRoute({
  getParentRoute: () => shell,
  path: "/customers/$customerId",
  staticData: { title: "Customer", hasRange: true },
  validateSearch: strictly(parseCustomerSearch),
  component: lazyPart(async () => (await import("./routes/customer.tsx")).CustomerScreen),
});

const playground = createRoute({
  getParentRoute: () => shell,
  path: "/playground",
  validateSearch: strictly(parsePlaygroundSearch),
  staticData: { title: "Playground" },
  component: lazyPart(async () => (await import("./routes/playground.tsx")).PlaygroundScreen),
});

const evaluation = createRoute({
  getParentRoute: () => shell,
  path: "/evaluation",
  validateSearch: strictly(parseEvaluationSearch),
  staticData: { title: "Evaluation", hasRange: true },
  component: lazyPart(async () => (await import("./routes/evaluation.tsx")).EvaluationScreen),
});

const alerts = createRoute({
  getParentRoute: () => shell,
  path: "/alerts",
  staticData: { title: "Alerts" },
  component: lazyPart(async () => (await import("./routes/alerts.tsx")).AlertsScreen),
});

const alert = createRoute({
  getParentRoute: () => shell,
  path: "/alerts/$alertId",
  staticData: { title: "Alert" },
  component: lazyPart(async () => (await import("./routes/alert.tsx")).AlertScreen),
});

const webhooks = createRoute({
  getParentRoute: () => shell,
  path: "/webhooks",
  validateSearch: strictly(parseWebhooksSearch),
  staticData: { title: "Webhooks" },
  component: lazyPart(async () => (await import("./routes/webhooks.tsx")).WebhooksScreen),
});

const providers = createRoute({
  getParentRoute: () => shell,
  path: "/providers",
  validateSearch: strictly(parseProvidersSearch),
  staticData: { title: "Providers" },
  component: lazyPart(async () => (await import("./routes/providers.tsx")).ProvidersScreen),
});

const models = createRoute({
  getParentRoute: () => shell,
  // `/models` is a route of the gateway.
  path: "/catalogue",
  validateSearch: strictly(parseModelsSearch),
  staticData: { title: "Models" },
  component: lazyPart(async () => (await import("./routes/models.tsx")).ModelsScreen),
});

const settings = createRoute({
  getParentRoute: () => shell,
  path: "/settings",
  validateSearch: strictly(parseSettingsSearch),
  staticData: { title: "Settings" },
  component: lazyPart(async () => (await import("./routes/settings.tsx")).SettingsScreen),
});

/** Any other path, within the frame: the root's own answer has no navigation. */
const notFound = createRoute({
  getParentRoute: () => shell,
  path: "$",
  staticData: { title: "No such page" },
  component: NotFound,
});

const share = createRoute({
  getParentRoute: () => root,
  path: "/share/$organizationId/$traceId",
  validateSearch: strictly(parseTraceSearch),
  component: lazyPart(async () => (await import("./routes/share.tsx")).ShareScreen),
});

/** Why a sign-in link led to the login page. */
const failedLinks = ["used", "throttled"] as const;
type FailedLink = (typeof failedLinks)[number];

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/login",
  component: lazyPart(async () => (await import("./routes/sign-in.tsx")).SignInScreen),
  validateSearch: (search: Record<string, unknown>): { to?: string | undefined; link?: FailedLink } => {
    const to = ownPath(search["to"]);
    const link = failedLinks.find((each) => each === search["link"]);
    return { ...(to !== undefined && { to }), ...(link !== undefined && { link }) };
  },
});

/** Part of the development build only. */
const developers = import.meta.env.DEV
  ? [
      createRoute({
        getParentRoute: () => shell,
        path: "/dev/primitives",
        component: lazyPart(async () => (await import("./dev/primitives.tsx")).Primitives),
      }),
    ]
  : [];

const invite = createRoute({
  getParentRoute: () => root,
  path: "/invite/$token",
  component: lazyPart(async () => (await import("./routes/invite.tsx")).InviteScreen),
});

/** Links for people without an account: without a part of one, they would be asked to sign in. */
const incompleteLinks = ["/share/$", "/invite/$"].map((path) =>
  createRoute({ getParentRoute: () => root, path, component: IncompleteLink }),
);

const routeTree = root.addChildren([
  shell.addChildren([
    overview,
    logs,
    span,
    compare,
    traces,
    trace,
    threads,
    customers,
    customer,
    playground,
    evaluation,
    alerts,
    alert,
    webhooks,
    providers,
    models,
    settings,
    notFound,
    ...developers,
  ]),
  share,
  signIn,
  invite,
  ...incompleteLinks,
]);

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  defaultPendingComponent: SkeletonRows,
  defaultErrorComponent: ({ error, reset }) => <ErrorPanel error={error} onRetry={reset} />,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    /** The title in the top bar and the browser tab. */
    title?: string;
    /** The screen has a time window, so the top bar shows its picker. */
    hasRange?: boolean;
  }
}
