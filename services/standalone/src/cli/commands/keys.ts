/** Manages the keys that sign tokens, and shows which of the deployment's secrets encrypt them. */
import { setTimeout as pause } from 'node:timers/promises';
import { identityOperations } from '@cardea/identity';
import { countedKeys } from '@cardea/service';
import { type Call, type Command, type CommandOutput, done, numberOf, table } from '../command.ts';
import { type Deployment, dependenciesOf, wrappedIn } from '../deployment.ts';
import { NotDone, WrongUsage } from '../failures.ts';

/** Each process reads the key ring every 30 s, and looks up an unknown key at most every 30 s. */
const WAIT_SECONDS = 65;
const WAIT_SECONDS_MAX = 86_400;

const operationsOn = (deployment: Deployment) =>
  identityOperations(dependenciesOf(deployment, 'identity'));

export const keysStatus: Command = {
  name: 'keys status',
  summary:
    'Lists the signing keys, and how many stored keys are wrapped under each ENCRYPTION_KEY, by id.',
  example: 'keys status --json',
  run: async ({ open }) => {
    const deployment = await open();
    const wrapped = await countedKeys(wrappedIn(deployment));
    const isReadable = wrapped.every(({ key }) => key !== 'unknown');
    // The private keys are decrypted to find out which secret encrypted them.
    const keys = isReadable ? await operationsOn(deployment).keys() : [];
    const rows = keys.map((key) => [
      key.kid,
      key.alg,
      key.state,
      `signs from ${key.activated_at ?? key.activate_at}`,
      key.publish_until === null ? '' : `published until ${key.publish_until}`,
      `sealed under ${SECRETS[key.sealed_under]}`,
    ]);
    const signing = keys.length === 0 ? ['There is no signing key to show.'] : table(rows);
    const counted = table(
      wrapped.map((each) => [each.table, each.kek_id, KEYS[each.key], `${each.rows} rows`]),
    );
    return done([...signing, '', ...counted], { keys, wrapped });
  },
};

const SECRETS = {
  current: 'JWT_SECRET',
  previous: 'JWT_SECRET_PREVIOUS',
  unreadable: 'another JWT_SECRET',
} as const;
const KEYS = {
  current: 'ENCRYPTION_KEY',
  previous: 'ENCRYPTION_KEY_PREVIOUS',
  unknown: 'neither of our keys',
} as const;

export const keysRotate: Command = {
  name: 'keys rotate',
  summary:
    'Lets a new key of each algorithm sign tokens; earlier tokens stay valid until they expire.',
  options: {
    wait: {
      type: 'string',
      value: 'SECONDS',
      help: `between the announcement to all verifiers and the first use (${WAIT_SECONDS})`,
    },
    revoke: {
      type: 'boolean',
      help: 'remove all other keys at once: access tokens signed by them become invalid, refresh tokens stay valid',
    },
  },
  destroys: ({ revoke }) => revoke === true,
  run: async (call) => {
    if (call.options['revoke'] === true) return revokeOthers(call);
    const { open, signal, tell } = call;
    const wait = numberOf(call, 'wait', { min: 0, max: WAIT_SECONDS_MAX, or: WAIT_SECONDS });
    const deployment = await open();
    const operations = operationsOn(deployment);
    await hasKeys(operations);
    const at = new Date(Date.now() + wait * 1000);
    const announced = await operations.announceKeys(at);
    const kids = announced.map(({ kid }) => kid);
    tell(`announced ${kids.join(', ')}; they sign in ${wait} s`, {
      announced: kids,
      wait_seconds: wait,
    });
    await pause(wait * 1000, undefined, { signal }).catch(() => {
      throw new NotDone('it was stopped; the announced keys sign when their time has come');
    });
    if (!(await operations.promoteKeys(announced)))
      throw new NotDone('another rotation was faster');
    return done([`${kids.join(', ')} sign now.`], { active: kids });
  },
};

async function revokeOthers({ open, options }: Call): Promise<CommandOutput> {
  if (options['wait'] !== undefined) throw new WrongUsage('--revoke waits for nobody');
  const operations = operationsOn(await open());
  await hasKeys(operations);
  const { kid, removed, told } = await operations.revokeKeys();
  const lines = [`${kid} signs now; removed: ${removed.join(', ')}.`];
  if (!told) lines.push('The cache is away: each process drops the old keys when it is back.');
  return done(lines, { active: kid, removed, told });
}

async function hasKeys(operations: ReturnType<typeof operationsOn>): Promise<void> {
  if ((await operations.keys()).length > 0) return;
  throw new NotDone('there is no key yet: the first start makes one');
}
