import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { PlaygroundPage } from "../features/playground/playground-page.tsx";

const route = getRouteApi("/shell/playground");

export function PlaygroundScreen(): ReactNode {
  return <PlaygroundPage span={route.useSearch().span} />;
}
