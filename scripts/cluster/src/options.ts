/** The flags of `npm run cluster`. */
import { parseArgs } from 'node:util';

export type Options = {
  /** The data folder. Undefined means `.cardea/cluster`. */
  readonly data: string | undefined;
  /** Whether the folder is removed at the end. */
  readonly temp: boolean;
  /** The gateway's port. Undefined means PORT, or else 8080, or a free port with `temp`. */
  readonly port: number | undefined;
  /** Processes of each service. */
  readonly replicas: number;
  /** Uses the fake EventStoreDB. */
  readonly eventstore: boolean;
  readonly help: boolean;
};

export const USAGE = `Usage: npm run cluster [-- options]

  --data DIR     keep everything in DIR (default: .cardea/cluster)
  --temp         keep nothing: a folder that is removed at the end, and free ports
  --port N       port of the gateway (default: PORT, else 8080)
  --replicas N   processes of each service, 1 to 5 (default: 1)
  --eventstore   keep events in the stand-in of an EventStoreDB; it forgets, so only with --temp
  --help         show this

DATABASE_URL, REDIS_URL, KAFKA_BROKERS and EVENTSTORE_URL name servers to use instead of own ones.
HOST is the address of the gateway (default: 127.0.0.1); services listen on loopback of its family.
`;

const PORT_MAX = 65_535;
const REPLICAS_MAX = 5;

/** Returns the flags, or what is wrong with them. */
export function readOptions(args: readonly string[]): Options | { readonly wrong: string } {
  const read = parsed(args);
  if ('wrong' in read) return read;
  const { data, temp = false, port, replicas = '1', eventstore = false, help = false } = read;
  if (temp && data !== undefined) return { wrong: '--temp and --data exclude each other' };
  if (eventstore && !temp) return { wrong: '--eventstore keeps nothing, so it needs --temp' };
  const gateway = port === undefined ? undefined : within(port, PORT_MAX);
  if (port !== undefined && gateway === undefined) {
    return { wrong: `--port needs a number from 1 to ${PORT_MAX}` };
  }
  const copies = within(replicas, REPLICAS_MAX);
  if (copies === undefined) return { wrong: `--replicas needs a number from 1 to ${REPLICAS_MAX}` };
  return { data, temp, port: gateway, replicas: copies, eventstore, help };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        data: { type: 'string' },
        temp: { type: 'boolean' },
        port: { type: 'string' },
        replicas: { type: 'string' },
        eventstore: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    return { wrong: (error as Error).message };
  }
}

function within(text: string, max: number): number | undefined {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  return value >= 1 && value <= max ? value : undefined;
}
