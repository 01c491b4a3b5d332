/**
 * The rights of each service in the shared cache, as Redis users. Each service reads and writes keys with its own
 * prefixes, and reads the keys of others that it needs. Only identity writes revocations and publishes on their
 * channel.
 */
import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';
import { sha256 } from '@cardea/crypto';
import type { Secret } from '@cardea/runtime';
import { patternsOf } from './cache-families.ts';

type Rights = {
  /** Keys of other services that the service reads, besides those that all services read. */
  readonly reads: readonly string[];
  /** Channels to which the service publishes and subscribes. */
  readonly speaks: readonly string[];
};

/** Redis patterns. All services also have the patterns that {@link rightsOf} adds. */
const RIGHTS: { readonly [service in ServiceName]: Rights } = {
  identity: { reads: [], speaks: ['rev', 'keys:changed', 'origins:changed'] },
  authz: { reads: [], speaks: [] },
  vault: { reads: ['vault:authority:*'], speaks: [] },
  approval: { reads: [], speaks: ['approval:changed'] },
  webhooks: { reads: [], speaks: [] },
  audit: { reads: [], speaks: ['audit:ingested'] },
};

/** Facts of identity, revocations, and the relays' positions. */
const READ_BY_ALL = [
  ...[
    'rev:*',
    'user:changed:*',
    'agent:changed:*',
    'agent_session:changed:*',
    'identity:changed:*',
  ],
  'relay:*',
];
/** The channel on which processes that may have missed revocations request them. */
const ASKED_BY_ALL = 'rev:questions';
const HEARD_BY_ALL = ['rev', 'keys:changed', 'origins:changed'];

/** The commands that the client sends, and those of its scripts. */
const COMMANDS = [
  ...['get', 'mget', 'set', 'getdel', 'del', 'exists', 'incrby', 'pttl', 'pexpire', 'eval'],
  ...['publish', 'subscribe', 'unsubscribe', 'ping', 'info', 'select', 'client|setname'],
];

const rightsOf = (service: ServiceName): Rights & { readonly own: readonly string[] } => {
  const { reads, speaks } = RIGHTS[service];
  const own = patternsOf(service);
  return {
    own,
    reads: [...new Set([...READ_BY_ALL, ...reads])].filter((key) => !own.includes(key)),
    speaks: [...speaks, ASKED_BY_ALL],
  };
};

export type CacheUser = {
  readonly service: ServiceName;
  readonly name: string;
  readonly password: Secret;
};

/**
 * The lines of an ACL file of Redis 7. `administrator` is the user of the deployment's own REDIS_URL. The default user
 * is disabled unless it is that one. Passwords are stored as hashes.
 */
export function cacheUserLines(
  administrator: { readonly name: string; readonly password: Secret },
  users: readonly CacheUser[],
): readonly string[] {
  const all = `on ${hashed(administrator.password)} ~* &* +@all`;
  const closed = administrator.name === 'default' ? [] : ['user default reset off'];
  return [
    ...closed,
    `user ${administrator.name} reset ${all}`,
    ...SERVICE_NAMES.flatMap((service) =>
      users.filter((user) => user.service === service).map((user) => lineOf(user)),
    ),
  ];
}

function lineOf({ service, name, password }: CacheUser): string {
  const { own, reads, speaks } = rightsOf(service);
  const hears = [...HEARD_BY_ALL, ...speaks].map((channel) => `&${channel}`);
  return [
    `user ${name} reset on ${hashed(password)}`,
    ...own.map((key) => `~${key}`),
    ...reads.map((key) => `%R~${key}`),
    ...speaks.map((channel) => `&${channel}`),
    ...COMMANDS.map((command) => `+${command}`),
    // A channel pattern allows both directions, so subscribing alone needs a separate selector.
    `(+subscribe ${[...new Set(hears)].join(' ')})`,
  ].join(' ');
}

const hashed = (password: Secret): string => `#${sha256(password.reveal()).toString('hex')}`;
