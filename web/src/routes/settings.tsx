import { getRouteApi, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMe, type Permission } from "../api/use-me.ts";
import { AccountPanels } from "../features/settings/account-panels.tsx";
import { ApiKeysPanel } from "../features/settings/api-keys-panel.tsx";
import { AuditPanel } from "../features/settings/audit-panel.tsx";
import { InstancePanel } from "../features/settings/instance-panel.tsx";
import { MembersPanel } from "../features/settings/members-panel.tsx";
import { OrganizationPanel } from "../features/settings/organization-panel.tsx";
import type { SettingsTab } from "../features/settings/search.ts";
import { Tabs } from "../ui/tabs.tsx";

const route = getRouteApi("/shell/settings");

const tabs: readonly { value: SettingsTab; label: string; needs?: Permission }[] = [
  { value: "members", label: "Members", needs: "members:read" },
  { value: "keys", label: "API keys" },
  { value: "organization", label: "Organization" },
  { value: "audit", label: "Audit log", needs: "audit:read" },
  { value: "instance", label: "Instance" },
  { value: "account", label: "Your account" },
];

export function SettingsScreen(): ReactNode {
  const me = useMe().data;
  const search = route.useSearch();
  const navigate = useNavigate();
  if (me === undefined) return null;
  const shown = tabs.filter(({ needs }) => needs === undefined || me.permissions.includes(needs));
  const tab = shown.find(({ value }) => value === search.tab)?.value ?? shown[0]?.value ?? "instance";
  return (
    <div className="flex min-h-full flex-col">
      <div className="bg-panel">
        <Tabs
          label="Settings"
          value={tab}
          tabs={shown}
          onValueChange={(next) => void navigate({ to: "/settings", search: (now) => ({ ...now, tab: next }) })}
        />
      </div>
      <div className="w-full max-w-[1100px] p-3 md:p-4">
        {tab === "members" && <MembersPanel />}
        {tab === "keys" && <ApiKeysPanel />}
        {tab === "organization" && <OrganizationPanel me={me} />}
        {tab === "audit" && <AuditPanel />}
        {tab === "instance" && <InstancePanel />}
        {tab === "account" && <AccountPanels me={me} />}
      </div>
    </div>
  );
}
