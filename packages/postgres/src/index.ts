export { type CopiedRow, printedRow } from './pool/copied-rows.ts';
export type {
  Answers,
  Database,
  Queryable,
  Sql,
  Statement,
  Transaction,
} from './pool/database.ts';
export { DatabaseUnavailable } from './pool/database.ts';
export { statementOf } from './pool/one-trip.ts';
export {
  type DatabaseOptions,
  openDatabase,
  type PostgresDatabase,
} from './pool/postgres-database.ts';
export { APP_ROLE, rolesOf, SYSTEM_ROLE, TENANT_SETTING } from './pool/role-names.ts';
export {
  type Columns,
  isNullable,
  jsonOf,
  orNull,
  type ReadRow,
  sqlTypeOf,
  textOf,
  textsOf,
  type WrittenRow,
} from './rows/columns.ts';
export { JsonLines, type LineField } from './rows/json-lines.ts';
export {
  type ListOfRows,
  type PageOfRows,
  pageOfTenant,
  pageOfTenants,
} from './rows/page-of-rows.ts';
export {
  computed,
  namedColumns,
  type RowOf,
  type Selection,
  selection,
  type TableSelection,
} from './rows/selection.ts';
export { type SparedNotices, sparedNotices } from './session/other-processes.ts';
export {
  lockKey,
  type ProcessSession,
  type ProcessSessionOptions,
  processSession,
} from './session/process-session.ts';
export { sessionName } from './session/session-name.ts';
export { refuseSharedSessions, SharedSessions } from './session/shared-sessions.ts';
