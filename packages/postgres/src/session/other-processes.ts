/**
 * Finds out whether other processes use the database, because notices are sent only where another process can
 * receive them. A process that starts announces itself, and then receives what it may have missed. Processes
 * that have ended, and those of releases that announce nothing, are found by counting the server's sessions.
 * A notice wakes every session of the database that listens to any channel, so a notice for one service is
 * not sent where only other services run.
 */
import type { ServiceName } from '@cardea/contracts';
import type { QueryConfig, QueryResultRow } from 'pg';
import { sessionName } from './session-name.ts';

/** Sessions of other processes, on the same database. A process that runs all services is a replica of each. */
const OTHERS: Pick<QueryConfig, 'name' | 'text'> = {
  name: 'other-sessions',
  text: `SELECT count(*)::integer AS others,
      count(*) FILTER (WHERE $3::text = $1 OR application_name IN ($1, $3))::integer AS replicas
    FROM pg_catalog.pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, $1)
      AND pid <> ALL ($2::integer[])`,
};
type Asking = <Row extends QueryResultRow>(query: QueryConfig) => Promise<readonly Row[]>;
type Counted = { readonly others: number; readonly replicas: number };

/** `sessions`: of which kind those are by which a process is found, and which of them are its own. */
export function otherProcesses(sessions: {
  readonly kind: string;
  /** The one that runs here; undefined: all. */
  readonly service: ServiceName | undefined;
  readonly own: () => readonly number[];
}) {
  /** Undefined while it is unknown. */
  let counted: Counted | undefined;
  let heard = 0;
  const ownName = sessionName(sessions.kind, sessions.service);
  return {
    /** Returns true also while no count is known. */
    arePossible: (): boolean => counted?.others !== 0,
    /** Those that run a service which runs here, too. True also while that is unknown. */
    areReplicasPossible: (): boolean => counted?.replicas !== 0,
    /** Another process has announced itself, or an announcement may have been missed. */
    heard: (): void => {
      heard += 1;
      counted = undefined;
    },
    /** Looks for their sessions. One that begins to listen meanwhile counts, whatever was found. */
    look: async (query: Asking): Promise<void> => {
      const before = heard;
      const values = [sessions.kind, sessions.own(), ownName];
      const [row] = await query<Counted>({ ...OTHERS, values });
      counted = heard === before ? row : undefined;
    },
  };
}

export type OtherProcesses = ReturnType<typeof otherProcesses>;
