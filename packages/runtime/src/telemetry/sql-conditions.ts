import { PostgresError } from 'pg-error-enum';

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(PostgresError).map(([name, code]) => [code, name.toLowerCase()]),
);

/**
 * PostgreSQL's name for an SQLSTATE, `disk_full` for `53100`. Undefined for any other text. Source: appendix A of
 * PostgreSQL's manual, "PostgreSQL Error Codes".
 */
export const sqlConditionOf = (code: unknown): string | undefined =>
  typeof code === 'string' ? NAMES.get(code) : undefined;
