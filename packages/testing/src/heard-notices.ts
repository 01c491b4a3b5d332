/** Collects the notices that a PostgreSQL server sends to a channel. */
import { Client } from 'pg';
import { onTestFinished } from 'vitest';
import { untilTrue } from './until-true.ts';

/** Notices of one session come in the order of their commits, whatever their channels are. */
const MARKS = 'marks';

/** For the test that calls it: the notices that the server sends, each with its payload. */
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
     * Returns the notices since the last call. A mark that is sent after all of them shows that the list is
     * complete.
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
