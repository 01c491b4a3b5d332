export type { Change } from './change.ts';
export { foldByKey, patch, put, remove } from './change.ts';
export type { Database, Queryable, Transaction } from './database.ts';
export { DatabaseUnavailable } from './database.ts';
export type {
  Positions,
  Projected,
  Projection,
  ProjectionTools,
  Table,
  TableChange,
} from './projection.ts';
