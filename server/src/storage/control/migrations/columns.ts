import type { ColumnDefinitionBuilder } from "kysely";

export type ControlDialect = "sqlite" | "postgres";

export function required(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder {
  return column.notNull();
}

export function belongsToOrganization(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder {
  return column.notNull().references("organizations.unique_organization_id").onDelete("cascade");
}

/** An integer that the database assigns and never reuses. */
export function countingId(column: ColumnDefinitionBuilder, dialect: ControlDialect): ColumnDefinitionBuilder {
  return dialect === "sqlite" ? column.primaryKey().autoIncrement() : column.generatedAlwaysAsIdentity().primaryKey();
}
