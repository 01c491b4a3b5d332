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

/** Whether other processes may receive notices on this database. */
export type OtherListeners = {
  /** True also while that is unknown. */
  arePossible(): boolean;
  /**
   * The listener is called when an announcement was received or may have been missed. Returns the function that ends
   * it.
   */
  onHeard(listener: () => void): () => void;
};

/**
 * Notices that only other processes need. None is sent while no other process listens. A process that begins to listen
 * receives the withheld notices at once.
 */
export type SparedNotices = {
  /** Whether the next statement has to contain its notice. */
  areDue(): boolean;
  /** Call it after a commit that concerns `subject`. `told` is true if the commit contained its notice. */
  committed(subject: string, told: boolean): void;
  end(): void;
};

/** `tell` sends a notice for each subject in a separate statement. */
export function sparedNotices(
  others: OtherListeners,
  tell: (subjects: readonly string[]) => Promise<void>,
): SparedNotices {
  const silent = new Set<string>();
  const tellAll = async (): Promise<void> => {
    const subjects = [...silent];
    silent.clear();
    try {
      await tell(subjects);
    } catch {
      // The next commit tries again.
      for (const subject of subjects) silent.add(subject);
    }
  };
  const end = others.onHeard(() => {
    if (silent.size > 0) void tellAll();
  });
  return {
    areDue: others.arePossible,
    committed: (subject, told) => {
      if (!told) silent.add(subject);
      // Other processes may have appeared between the statement and its commit.
      if (silent.size > 0 && others.arePossible()) void tellAll();
    },
    end,
  };
}
