/**
 * Records the responses that a client got, outside of every process under test: each request before it is sent, and
 * each response after it arrived. After a crash it shows what must exist, what may exist, and what must not.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

export type Acked<Write> = {
  /** 2xx: the write has its effect once. */
  readonly acked: readonly Write[];
  /** 4xx: the write has no effect. */
  readonly refused: readonly Write[];
  /** 5xx, reset, time-out, or no response yet: once or not at all. */
  readonly unknown: readonly Write[];
};

export type AckedSet<Write> = {
  /** Runs `send`, which returns the status, between the two records. An exception counts as unknown. */
  send(write: Write, send: () => Promise<number>): Promise<number | undefined>;
  read(): Acked<Write>;
};

type Line<Write> = { readonly n: number; readonly write?: Write; readonly status?: number };

export function ackedSet<Write>(file: string): AckedSet<Write> {
  mkdirSync(dirname(file), { recursive: true });
  // A record that was cut short was never acted upon. Its line is ended, so that it does not damage the next one.
  appendFileSync(file, '\n');
  let next = linesOf(file).length;
  const note = (line: Line<Write>): void => appendFileSync(file, `${JSON.stringify(line)}\n`);
  return {
    send: async (write, send) => {
      const n = next++;
      note({ n, write });
      try {
        const status = await send();
        note({ n, status });
        return status;
      } catch {
        return undefined;
      }
    },
    read: () => sort(linesOf<Write>(file)),
  };
}

function linesOf<Write>(file: string): Line<Write>[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap(parsed<Write>);
}

function parsed<Write>(line: string): Line<Write>[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

function sort<Write>(lines: readonly Line<Write>[]): Acked<Write> {
  const statuses = new Map(
    lines.flatMap(({ n, status }) => (status === undefined ? [] : [[n, status] as const])),
  );
  const sorted = { acked: [] as Write[], refused: [] as Write[], unknown: [] as Write[] };
  for (const { n, write } of lines) {
    if (write !== undefined) sorted[fate(statuses.get(n))].push(write);
  }
  return sorted;
}

function fate(status: number | undefined): keyof Acked<unknown> {
  if (status === undefined || status >= 500) return 'unknown';
  return status >= 400 ? 'refused' : 'acked';
}
