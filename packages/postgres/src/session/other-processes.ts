/**
 * Finds out whether other processes use the database, because notices are sent only if another process can receive
 * them. A starting process announces itself, and then receives what it may have missed. Processes that have ended, and
 * those of releases without announcements, are found by counting the server's sessions. A notice wakes every session of
 * the database that listens to any channel. So a notice for one service is not sent if only other services run.
 */
import type { ServiceName } from '@cardea/contracts';
import type { QueryConfig, QueryResultRow } from 'pg';
import { sessionName } from './session-name.ts';

/** Sessions of other processes on the same database. A process that runs all services is a replica of each. */
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

/** `sessions` names the kind of session that identifies a process, and this process's own sessions. */
export function otherProcesses(sessions: {
  readonly kind: string;
  /** The service that runs here. Undefined means all. */
  readonly service: ServiceName | undefined;
  readonly own: () => readonly number[];
}) {
  /** Undefined while the number is unknown. */
  let counted: Counted | undefined;
  let heard = 0;
  const ownName = sessionName(sessions.kind, sessions.service);
  return {
    /** Returns true also while no count is known. */
    arePossible: (): boolean => counted?.others !== 0,
    /** Whether there are other processes of a service that runs here, too. True also while that is unknown. */
    areReplicasPossible: (): boolean => counted?.replicas !== 0,
    /** Call it when another process has announced itself, or an announcement may have been missed. */
    heard: (): void => {
      heard += 1;
      counted = undefined;
    },
    /**
     * Counts the sessions of other processes. A session that begins to listen during the count is included, whatever
     * was found.
     */
    look: async (query: Asking): Promise<void> => {
      const before = heard;
      const values = [sessions.kind, sessions.own(), ownName];
      const [row] = await query<Counted>({ ...OTHERS, values });
      counted = heard === before ? row : undefined;
    },
  };
}

export type OtherProcesses = ReturnType<typeof otherProcesses>;
