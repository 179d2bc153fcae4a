import type { ReactNode } from "react";
import { useEnvironment } from "../../api/use-api.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Dot } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { Cell, HeadCell, Table } from "../../ui/table.tsx";
import { isChangedFrom, keyHint, modelsServed, stateOf } from "./provider-rows.ts";
import type { Setting } from "./queries.ts";

type TableProps = {
  settings: readonly Setting[];
  canWrite: boolean;
  onEdit: (setting: Setting, part: "all" | "key") => void;
  onToggle: (setting: Setting) => void;
  onDelete: (setting: Setting) => void;
};

export function SettingsTable({ settings, ...rest }: TableProps): ReactNode {
  return (
    <Table
      label="Stored credentials"
      head={
        <>
          <HeadCell>
            <span className="max-md:sr-only">State</span>
          </HeadCell>
          <HeadCell>Name</HeadCell>
          <HeadCell>Provider</HeadCell>
          <HeadCell>Key</HeadCell>
          <HeadCell className="max-md:hidden">Address</HeadCell>
          <HeadCell className="max-md:hidden">Models</HeadCell>
          <HeadCell className="max-md:hidden">Environment</HeadCell>
          <HeadCell
            isNumber
            className="max-md:hidden"
            title="How often it is chosen among several of the same provider"
          >
            Weight
          </HeadCell>
          {rest.canWrite && (
            <HeadCell>
              <span className="sr-only">Actions</span>
            </HeadCell>
          )}
        </>
      }
    >
      {settings.map((setting) => (
        <Row key={setting.id} setting={setting} {...rest} />
      ))}
    </Table>
  );
}

function Row({ setting, canWrite, ...actions }: Omit<TableProps, "settings"> & { setting: Setting }): ReactNode {
  const environment = useEnvironment();
  const { name, provider, base_url: address } = setting;
  const { label, tone, title } = stateOf(setting);
  const models = modelsServed(setting);
  return (
    <tr>
      <Cell title={title}>
        <span className="inline-flex items-center gap-2">
          <Dot tone={tone} />
          <span className="max-md:sr-only">{label}</span>
        </span>
      </Cell>
      <Cell className="max-w-40 font-medium max-md:max-w-20" title={name}>
        {visibleLine(name)}
      </Cell>
      <Cell className="text-muted">{provider}</Cell>
      <Cell className="figures" title={setting.access_key_id ?? undefined}>
        {keyHint(setting)}
      </Cell>
      <Cell className="max-w-52 text-muted max-md:hidden" title={address ?? undefined}>
        {address ?? "the provider's own"}
      </Cell>
      <Cell className="max-w-44 text-muted max-md:hidden" title={models}>
        {visibleLine(models)}
      </Cell>
      <Cell className="text-muted max-md:hidden">{setting.environment ?? "both"}</Cell>
      <Cell isNumber className="max-md:hidden">
        {setting.weight}
      </Cell>
      {canWrite && (
        <Cell className="text-right whitespace-nowrap">
          {isChangedFrom(environment, setting) ? (
            <Actions setting={setting} {...actions} />
          ) : (
            <span className="text-xs text-faint">changed from {setting.environment ?? "prod"}</span>
          )}
        </Cell>
      )}
    </tr>
  );
}

type ActionsProps = Omit<TableProps, "settings" | "canWrite"> & { setting: Setting };

function Actions({ setting, onEdit, onToggle, onDelete }: ActionsProps): ReactNode {
  const { name, is_enabled: isEnabled } = setting;
  return (
    <>
      <IconButton
        size="sm"
        icon={isEnabled ? "pause" : "play"}
        label={`Turn ${isEnabled ? "off" : "on"} ${name}`}
        onClick={() => onToggle(setting)}
      />
      <IconButton size="sm" icon="key" label={`Replace the key of ${name}`} onClick={() => onEdit(setting, "key")} />
      <IconButton size="sm" icon="edit" label={`Edit ${name}`} onClick={() => onEdit(setting, "all")} />
      <IconButton size="sm" icon="trash" label={`Delete ${name}`} onClick={() => onDelete(setting)} />
    </>
  );
}
