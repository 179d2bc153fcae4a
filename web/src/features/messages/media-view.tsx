import { useState, type ReactNode } from "react";
import { formatBytes } from "../../lib/format.ts";
import { visibleLine } from "../../lib/visible-text.ts";
import { Icon } from "../../ui/icon.tsx";
import type { Media } from "./media.ts";
import { outside } from "./safe-link.ts";
import type { ShownAs } from "./sniff-base64.ts";

/** Images, recordings and videos of messages, as far as `readMedia` permits. */
export function MediaView({ media, name }: { media: Media; name?: string | undefined }): ReactNode {
  if (media.kind === "inline") {
    return <Player shown={media.shown} src={media.src} label={`${media.mediaType}, ${formatBytes(media.bytes)}`} />;
  }
  if (media.kind === "stored") {
    if (media.shown === "file") return <FileLink src={media.src} name={name ?? "file"} />;
    return <Player shown={media.shown} src={media.src} label={`${media.shown}, stored by Spanway`} />;
  }
  if (media.kind === "external") {
    return (
      <a href={media.url} title={media.url} {...outside} className={boxClass}>
        <Icon name="external" size={14} />
        <span className="truncate">
          Open {media.shown} of <bdi className="font-mono">{media.host}</bdi>
        </span>
      </a>
    );
  }
  return (
    <span className={boxClass} title={media.reason}>
      <Icon name="eyeOff" size={14} />
      <span className="truncate">{visibleLine(media.label)}</span>
      {media.bytes !== undefined && <span className="figures">{formatBytes(media.bytes)}</span>}
      <span className="text-faint">{media.reason}</span>
    </span>
  );
}

const boxClass =
  "inline-flex max-w-full flex-wrap items-center gap-x-2 rounded-md border border-line bg-raised px-2 py-1 text-xs text-muted";

function Player({ shown, src, label }: { shown: ShownAs; src: string; label: string }): ReactNode {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) {
    return (
      <span className={boxClass}>
        <Icon name="alert" size={14} />
        The browser cannot show this {shown} ({label}).
      </span>
    );
  }
  const onError = (): void => setBroken(true);
  if (shown === "audio")
    return <audio controls preload="none" src={src} title={label} onError={onError} className="h-9 w-full max-w-md" />;
  if (shown === "video")
    return <video controls preload="none" src={src} title={label} onError={onError} className="max-h-80 max-w-full" />;
  return (
    <img
      src={src}
      alt={label}
      title={label}
      loading="lazy"
      decoding="async"
      onError={onError}
      className="max-h-80 max-w-full rounded-md border border-line object-contain"
    />
  );
}

function FileLink({ src, name }: { src: string; name: string }): ReactNode {
  return (
    <a href={src} download className={`${boxClass} hover:text-text`}>
      <Icon name="download" size={14} />
      <span className="truncate">{visibleLine(name)}</span>
    </a>
  );
}
