import type { Secret } from "../../../lib/secret.ts";
import { createSpanStore } from "../clickhouse-span-store.ts";
import type { SpanStore } from "../span-store.ts";
import { openEmbeddedDatabase } from "./embedded-database.ts";
import { openHttpDatabase } from "./http-database.ts";
import type { SpanDatabase, SpanDatabaseOptions } from "./span-database.ts";

/** Where spans are stored, read from SPANWAY_SPANS_URL by config.ts. `url` is the origin only. */
export type SpansLocation =
  | { kind: "chdb"; path: string }
  | {
      kind: "clickhouse";
      url: string;
      username: string;
      password: Secret;
      database: string;
      /** Spreads the tables over the cluster with this name. */
      cluster: string | null;
      /** Settings for inserts, by the engine's names. */
      inserts?: Record<string, string>;
    };

/** Opens the store without changing its tables: call `migrate` next. */
export function openSpanStore(location: SpansLocation, options: SpanDatabaseOptions = {}): SpanStore {
  return createSpanStore(openSpanDatabase(location, options));
}

/** Opens the database that the store runs on. */
export function openSpanDatabase(location: SpansLocation, options: SpanDatabaseOptions = {}): SpanDatabase {
  if (location.kind === "chdb") return openEmbeddedDatabase(location.path, options);
  return openHttpDatabase({ ...location, password: location.password.reveal() }, options);
}
