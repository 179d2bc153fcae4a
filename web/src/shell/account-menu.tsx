import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMe, useSignOut } from "../api/use-me.ts";
import { Icon } from "../ui/icon.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { Menu } from "../ui/menu.tsx";
import { chooseTheme, useTheme } from "../ui/theme.ts";
import { useToast } from "../ui/toast.tsx";
import { useOverlays } from "./overlays.tsx";

export function AccountMenu({ isNarrow }: { isNarrow: boolean }): ReactNode {
  const me = useMe().data;
  const theme = useTheme();
  const toast = useToast();
  const { open } = useOverlays();
  const signOut = useSignOut();
  const navigate = useNavigate();
  return (
    <Menu
      side="top"
      trigger={
        <button
          type="button"
          aria-label={isNarrow ? "Account" : undefined}
          className="flex h-9 w-full min-w-0 items-center gap-2 rounded-md px-2 text-left hover:bg-raised data-[popup-open]:bg-raised"
        >
          <Icon name="user" className="text-faint" />
          {!isNarrow && (
            <span className="min-w-0 leading-4">
              <span className="block truncate text-sm">{me?.email}</span>
              <span className="block truncate text-xs text-faint">{me?.role}</span>
            </span>
          )}
        </button>
      }
      items={[
        { heading: me?.email ?? "" },
        { label: "System theme", isChecked: theme === "system", onSelect: () => chooseTheme("system") },
        { label: "Light", isChecked: theme === "light", onSelect: () => chooseTheme("light") },
        { label: "Dark", isChecked: theme === "dark", onSelect: () => chooseTheme("dark") },
        "separator",
        {
          label: "Password and sessions",
          icon: "lock",
          onSelect: () => void navigate({ to: "/settings", search: (now) => ({ ...now, tab: "account" as const }) }),
        },
        { label: "Keyboard", icon: "help", hint: <Kbd keys="?" />, onSelect: () => open("keys") },
        { label: "API reference", icon: "code", onSelect: () => window.open("/docs", "_blank", "noopener") },
        "separator",
        {
          label: "Sign out",
          icon: "signOut",
          onSelect: () => signOut.mutate(undefined, { onError: (error) => toast.failed("Could not sign out", error) }),
        },
      ]}
    />
  );
}
