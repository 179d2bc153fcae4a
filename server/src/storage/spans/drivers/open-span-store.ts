import type { Secret } from "../../../lib/secret.ts";
import { createSpanStore } from "../clickhouse-span-store.ts";
import type { SpanStore } from "../span-store.ts";
import { openEmbeddedDatabase } from "./embedded-database.ts";
import { openHttpDatabase } from "./http-database.ts";
import type { SpanDatabaseOptions } from "./span-database.ts";

/** Where spans are kept, read from SPANWAY_SPANS_URL by config.ts. `url` is the origin alone. */
export type SpansLocation =
  | { kind: "chdb"; path: string }
  | {
      kind: "clickhouse";
      url: string;
      username: string;
      password: Secret;
      database: string;
      /** Spreads the tables over the cluster of this name. */
      cluster: string | null;
    };

/** Opens the store without touching its tables: call `migrate` next. */
export function openSpanStore(location: SpansLocation, options: SpanDatabaseOptions = {}): SpanStore {
  if (location.kind === "chdb") return createSpanStore(openEmbeddedDatabase(location.path, options));
  return createSpanStore(openHttpDatabase({ ...location, password: location.password.reveal() }, options));
}
