/** Records the commands that Redis runs during some work, as its own MONITOR reports them. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { redisSays, untilTrue } from '@cardea/testing';

/** The client and the name of the command; what a script runs inside the server has the client `lua`. */
const COMMAND = /^\+[\d.]+ \[\d+ (\S+)\] "([^"]+)"/;
/** The commands by which a connection is opened, and those of this observer. */
const OF_CONNECTIONS = /^(auth|hello|client|select|info|echo|monitor)$/i;

export type MonitoredRedis = {
  /** Returns the names of the commands that clients have sent during the work. */
  during(work: () => Promise<unknown>): Promise<readonly string[]>;
  close(): void;
};

export async function monitoredRedis(url: string): Promise<MonitoredRedis> {
  const { hostname, port, password } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (data) => {
    text += data.toString('latin1');
  });
  socket.write(`AUTH default ${decodeURIComponent(password)}\r\nMONITOR\r\n`);
  await untilTrue(async () => text.startsWith('+OK\r\n+OK\r\n'), { what: 'Redis is monitored' });
  /** Redis reports commands in the order in which it runs them, so all earlier ones are reported before this one. */
  const mark = async (): Promise<string> => {
    const name = randomBytes(8).toString('hex');
    await redisSays(url, ['ECHO', name]);
    await untilTrue(async () => text.includes(name), { what: 'the mark is reported' });
    return name;
  };
  return {
    during: async (work) => {
      const from = await mark();
      await work();
      const to = await mark();
      const reported = text.slice(text.indexOf(from), text.indexOf(to));
      text = text.slice(text.indexOf(to));
      return reported.split('\r\n').flatMap((line) => {
        const [, client = 'lua', name = ''] = COMMAND.exec(line) ?? [];
        return client === 'lua' || OF_CONNECTIONS.test(name) ? [] : [name.toLowerCase()];
      });
    },
    close: () => socket.destroy(),
  };
}
