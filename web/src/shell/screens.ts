import type { LinkProps } from "@tanstack/react-router";
import type { IconName } from "../ui/icon.tsx";

export type ScreenLink = {
  label: string;
  to: NonNullable<LinkProps["to"]>;
  icon: IconName;
  /** The key pressed after `g`. */
  key: string;
  /** Separated from those before it. */
  startsGroup?: boolean;
};

/**
 * The screens in the sidebar and the palette; a screen is listed once it is complete. The order is overview, logs,
 * traces, threads, customers, playground, evaluation, alerts, webhooks, providers, models, settings.
 */
export const screens: readonly ScreenLink[] = [
  { label: "Overview", to: "/", icon: "home", key: "o" },
  { label: "Logs", to: "/logs", icon: "logs", key: "l" },
  { label: "Traces", to: "/traces", icon: "trace", key: "t" },
  { label: "Threads", to: "/threads", icon: "thread", key: "h" },
  { label: "Customers", to: "/customers", icon: "customers", key: "c" },
  { label: "Playground", to: "/playground", icon: "playground", key: "p" },
  { label: "Evaluation", to: "/evaluation", icon: "score", key: "e" },
  { label: "Alerts", to: "/alerts", icon: "bell", key: "a" },
  { label: "Webhooks", to: "/webhooks", icon: "webhook", key: "w" },
  { label: "Providers", to: "/providers", icon: "provider", key: "v" },
  { label: "Models", to: "/catalogue", icon: "models", key: "m" },
  { label: "Settings", to: "/settings", icon: "settings", key: "s", startsGroup: true },
];
