/** Collects the notices that a PostgreSQL server sends to a channel. */
import { Client } from 'pg';
import { onTestFinished } from 'vitest';
import { untilTrue } from './until-true.ts';

/** The channel of the marks. Notices of one session arrive in the order of their commits, on any channel. */
const MARKS = 'marks';

/** The notices that the server sends, each with its payload, for the duration of the calling test. */
export async function heardNotices(connectionString: string, channel: string) {
  const client = new Client({ connectionString });
  await client.connect();
  onTestFinished(() => client.end());
  let heard: (string | undefined)[] = [];
  let marks = 0;
  client.on('notification', ({ channel: from, payload }) => {
    if (from === MARKS) marks += 1;
    else heard.push(payload);
  });
  await client.query(`LISTEN ${channel}`);
  await client.query(`LISTEN ${MARKS}`);
  return {
    /**
     * Returns the notices since the last call. A mark that is sent after all of them proves that the list is complete.
     */
    taken: async (): Promise<readonly (string | undefined)[]> => {
      const before = marks;
      await client.query(`NOTIFY ${MARKS}`);
      await untilTrue(async () => marks > before);
      const all = heard;
      heard = [];
      return all;
    },
  };
}
