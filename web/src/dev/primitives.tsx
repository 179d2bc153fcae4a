import { useState, type ReactNode } from "react";
import { ApiError } from "../api/api-error.ts";
import { Badge, Dot, type Tone } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Checkbox } from "../ui/checkbox.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { ConfirmDialog, Dialog } from "../ui/dialog.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { Icon, iconNames } from "../ui/icon.tsx";
import { Field, Input, TextArea } from "../ui/input.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { useKeys } from "../ui/keys.ts";
import { Menu } from "../ui/menu.tsx";
import { Panel } from "../ui/panel.tsx";
import { Popover } from "../ui/popover.tsx";
import { Select } from "../ui/select.tsx";
import { Skeleton, SkeletonRows } from "../ui/skeleton.tsx";
import { Cell, HeadCell, Table } from "../ui/table.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { useToast } from "../ui/toast.tsx";
import { Tooltip } from "../ui/tooltip.tsx";
import { Cost, Count, Duration, Time, Unknown, useTimeZone } from "../ui/value.tsx";

/** Shows every primitive in both themes, for development. Part of the development build only. */
export function Primitives(): ReactNode {
  return (
    <div className="grid min-h-full lg:grid-cols-2">
      {(["light", "dark"] as const).map((theme) => (
        <div key={theme} data-theme={theme} className="flex flex-col gap-3 bg-bg p-4 text-text">
          <h1 className="text-lg font-semibold">Primitives, {theme}</h1>
          <Buttons />
          <Fields />
          <Overlays />
          <States />
          <Values />
          <Icons />
        </div>
      ))}
    </div>
  );
}

function Buttons(): ReactNode {
  const [isBusy, setBusy] = useState(false);
  return (
    <Panel title="Buttons">
      <div className="flex flex-wrap gap-2 p-3">
        <Button variant="primary">Primary</Button>
        <Button>Default</Button>
        <Button variant="ghost">Ghost</Button>
        <Button variant="danger" icon="trash">
          Delete
        </Button>
        <Button size="sm" icon="plus">
          Small
        </Button>
        <Button disabled>Disabled</Button>
        <Button isBusy={isBusy} onClick={() => setBusy(true)}>
          Work
        </Button>
        <IconButton icon="refresh" label="Refresh" />
        <CopyButton text="copied" />
        <Kbd keys="mod+k" />
        <Kbd keys="g l" />
      </div>
    </Panel>
  );
}

function Fields(): ReactNode {
  const [model, setModel] = useState<"gpt" | "claude">("gpt");
  const [isOn, setOn] = useState(true);
  return (
    <Panel title="Fields">
      <div className="grid gap-3 p-3 sm:grid-cols-2">
        <Field label="Name" hint="As colleagues know it.">
          {(control) => <Input {...control} placeholder="A name" />}
        </Field>
        <Field label="Threshold" error="Must be a number.">
          {(control) => <Input {...control} defaultValue="many" />}
        </Field>
        <Field label="Model">
          {(control) => (
            <Select
              {...control}
              value={model}
              options={[
                { value: "gpt", label: "gpt-4o" },
                { value: "claude", label: "claude-sonnet" },
              ]}
              onValueChange={setModel}
            />
          )}
        </Field>
        <Field label="Note">{(control) => <TextArea {...control} />}</Field>
        <label className="flex items-center gap-2">
          <Checkbox checked={isOn} onCheckedChange={setOn} /> Checked
        </label>
        <label className="flex items-center gap-2">
          <Checkbox checked={false} isMixed onCheckedChange={() => undefined} /> Mixed
        </label>
      </div>
    </Panel>
  );
}

function Overlays(): ReactNode {
  const [opened, setOpened] = useState<"dialog" | "confirm">();
  const [tab, setTab] = useState<"messages" | "raw">("messages");
  const toast = useToast();
  const close = (): void => setOpened(undefined);
  useKeys([{ keys: "d", label: "Open the dialog", run: () => setOpened("dialog") }]);
  return (
    <Panel title="Overlays">
      <Tabs
        label="Views"
        value={tab}
        onValueChange={setTab}
        tabs={[
          { value: "messages", label: "Messages", count: 4 },
          { value: "raw", label: "Raw" },
        ]}
        actions={<IconButton size="sm" icon="dots" label="More" />}
      />
      <div className="flex flex-wrap gap-2 p-3">
        <Button onClick={() => setOpened("dialog")}>Dialog</Button>
        <Button onClick={() => setOpened("confirm")}>Confirm</Button>
        <Popover trigger={<Button icon="clock">Popover</Button>} label="Example">
          Something beside the page.
        </Popover>
        <Menu
          trigger={<Button icon="dots">Menu</Button>}
          items={[
            { heading: "This row" },
            { label: "Copy link", icon: "link", onSelect: () => undefined, hint: <Kbd keys="c" /> },
            { label: "Wrap lines", isChecked: true, onSelect: () => undefined },
            "separator",
            { label: "Delete", icon: "trash", isDanger: true, onSelect: () => undefined },
          ]}
        />
        <Tooltip content="What it does">
          <Button>Tooltip</Button>
        </Tooltip>
        <Button onClick={() => toast.done("Saved", "Colleagues see it at once.")}>Toast</Button>
        <Button onClick={() => toast.failed("Could not save", new Error("The name is taken."))}>Failure</Button>
      </div>
      <Dialog
        open={opened === "dialog"}
        onOpenChange={close}
        title="A dialog"
        footer={<Button onClick={close}>Done</Button>}
      >
        Text over the page.
      </Dialog>
      <ConfirmDialog
        open={opened === "confirm"}
        onOpenChange={close}
        onConfirm={close}
        title="Delete it?"
        action="Delete"
      >
        It cannot be brought back.
      </ConfirmDialog>
    </Panel>
  );
}

const tones: readonly Tone[] = ["neutral", "accent", "ok", "warn", "error", "info"];

function States(): ReactNode {
  const error = new ApiError("Each minute takes 60 requests.", { status: 429, requestId: "req_0123", retryAfterS: 7 });
  return (
    <Panel title="States">
      <div className="flex flex-wrap items-center gap-2 p-3">
        {tones.map((tone) => (
          <Badge key={tone} tone={tone}>
            <Dot tone={tone} />
            {tone}
          </Badge>
        ))}
      </div>
      <SkeletonRows rows={2} />
      <Skeleton className="m-3 h-16" />
      <ErrorPanel error={error} onRetry={() => undefined} />
      <EmptyState title="No logs match" action={<Button size="sm">Clear filters</Button>}>
        Nothing in the last hour has this model.
      </EmptyState>
    </Panel>
  );
}

function Values(): ReactNode {
  const zone = useTimeZone();
  return (
    <Panel title={`Values, in ${zone} time`} actions={<Unknown why="Nothing is known of this." />}>
      <Table
        label="Values"
        head={
          <>
            <HeadCell sort="desc" onSort={() => undefined}>
              Name
            </HeadCell>
            <HeadCell isNumber>Cost</HeadCell>
            <HeadCell isNumber>Tokens</HeadCell>
            <HeadCell isNumber>Time</HeadCell>
            <HeadCell>When</HeadCell>
          </>
        }
      >
        {[0.0042, null].map((usd) => (
          <tr key={String(usd)}>
            <Cell>gpt-4o</Cell>
            <Cell isNumber>
              <Cost usd={usd} />
            </Cell>
            <Cell isNumber>
              <Count value={usd === null ? null : 12_345} />
            </Cell>
            <Cell isNumber>
              <Duration seconds={usd === null ? null : 1.234} />
            </Cell>
            <Cell>
              <Time at="2026-11-29T14:03:22.120Z" /> · <Time at="2026-11-29T14:03:22.120Z" isAgo />
            </Cell>
          </tr>
        ))}
      </Table>
    </Panel>
  );
}

function Icons(): ReactNode {
  return (
    <Panel title="Icons">
      <div className="flex flex-wrap gap-3 p-3">
        {iconNames.map((name) => (
          <span key={name} title={name}>
            <Icon name={name} />
          </span>
        ))}
      </div>
    </Panel>
  );
}
