/**
 * Whether other processes use the database, and so may wait for notices: without them none is sent. One
 * that starts says so, and is told at once what it may have missed; one that has ended, or that is of a
 * release that said nothing, is found among the server's sessions.
 */
import type { Client, QueryConfig } from 'pg';
import type { Connection } from './connection.ts';

/** The payload of the notice with which a process begins to listen. */
export const JOINED = 'joined';

/** Sessions of other processes, on the same database. */
const OTHERS: Pick<QueryConfig, 'name' | 'text'> = {
  name: 'other-sessions',
  text: `SELECT count(*)::integer AS others FROM pg_catalog.pg_stat_activity
    WHERE datname = current_database() AND application_name = $1 AND pid <> ALL ($2::integer[])`,
};

/** The sessions of this process: their notices need not be heard here. */
export function ownSessions() {
  const pids = new Set<number>();
  return {
    add: async (client: Client): Promise<void> => {
      const { processID: pid } = client as Client & { readonly processID?: number };
      if (pid === undefined) return;
      pids.add(pid);
      client.on('end', () => pids.delete(pid));
    },
    has: (pid: number): boolean => pids.has(pid),
    all: (): readonly number[] => [...pids],
  };
}
export type OwnSessions = ReturnType<typeof ownSessions>;

/** `sessions`: the `application_name` of those by which a process is found, and which of them are its own. */
export function otherProcesses(sessions: {
  readonly name: string;
  readonly own: () => readonly number[];
}) {
  let isPossible = true;
  let heard = 0;
  return {
    /** True also while that is unknown. */
    arePossible: (): boolean => isPossible,
    /** One was heard of, or may have been missed. */
    heard: (): void => {
      heard += 1;
      isPossible = true;
    },
    /** Looks for their sessions. One that begins to listen meanwhile counts, whatever was found. */
    look: async (query: Connection['query']): Promise<void> => {
      const before = heard;
      const values = [sessions.name, sessions.own()];
      const [row] = await query<{ readonly others: number }>({ ...OTHERS, values });
      isPossible = heard !== before || row?.others !== 0;
    },
  };
}
