/** The example consumer of the documentation, run as subscribers would run it, and the contents of its file. */
import { randomUUID } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { IntegrationEvent, JsonObject } from '@cardea/contracts';
import { type FixtureProcess, startProcess, untilTrue } from '@cardea/testing';

const ROOT = resolve(import.meta.dirname, '../../..');
const EXAMPLE = join(ROOT, 'docs/examples/kafka-consumer');
const KAFKAJS = join(ROOT, 'packages/event-bus/node_modules/kafkajs');

export type Directory = {
  readonly logEpoch: string | null;
  readonly reconcile: boolean;
  readonly users: { readonly [key: string]: DirectoryUser };
  readonly unknown: { readonly [type: string]: number };
};
export type DirectoryUser = {
  readonly email: string | null;
  readonly display_name: string | null;
  readonly logins: number;
};

/** A new folder with kafkajs installed as `npm install` would do it. */
export const exampleConsumer = (topic: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'cardea-example-'));
  cpSync(EXAMPLE, folder, { recursive: true });
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  const library = join(folder, 'node_modules/kafkajs');
  rmSync(library, { recursive: true, force: true });
  symlinkSync(KAFKAJS, library);
  const stateFile = join(folder, 'directory.json');
  let running: FixtureProcess | undefined;
  const directory = (): Directory | undefined =>
    existsSync(stateFile) ? JSON.parse(readFileSync(stateFile, 'utf8')) : undefined;
  return {
    stateFile,
    directory,
    start: async (brokers: readonly string[], group: string): Promise<FixtureProcess> => {
      running = await startProcess({
        name: 'example',
        script: join(folder, 'consumer.mjs'),
        cwd: folder,
        env: {
          KAFKA_BROKERS: brokers.join(','),
          TOPIC: topic,
          GROUP: group,
          STATE_FILE: stateFile,
        },
        ready: /Reading .*: 12 partitions/,
      });
      return running;
    },
    until: (what: string, holds: (now: Directory) => boolean): Promise<unknown> =>
      untilTrue(
        () => {
          const now = directory();
          return now !== undefined && holds(now);
        },
        { deadlineMs: UNTIL_MS, what: `the directory shows ${what}` },
      ),
    close: async () => {
      await running?.end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const UNTIL_MS = 120_000;

export const loginsIn = ({ users }: Directory): number =>
  Object.values(users).reduce((sum, { logins }) => sum + logins, 0);

const context = { ip: null, user_agent: null, app_id: null, agent_id: null, request_id: null };

/** Events of users as identity publishes them, with growing positions. */
export const userEvents = (logEpoch: string, after = 0) => {
  let position = after;
  const event = (
    type: string,
    user: string,
    data: JsonObject,
    over: Partial<IntegrationEvent> = {},
  ): IntegrationEvent => {
    position += 1;
    return {
      id: randomUUID(),
      type,
      source: 'identity',
      time: '2031-05-04T03:02:01.007Z',
      tenantId: 'acme',
      streamId: `user-${user}`,
      position: String(position),
      schemaVersion: 1,
      logEpoch,
      actor: { type: 'user', id: user },
      data: { ...data, context },
      ...over,
    };
  };
  const snapshot = (user: string) => ({
    id: user,
    email: `${user}@example.com`,
    display_name: user,
    email_verified: true,
    roles: ['member'],
    status: 'active',
    created_at: '2031-05-04T03:02:01.007Z',
  });
  return {
    event,
    created: (user: string, over: JsonObject = {}) =>
      event('user.created', user, { ...snapshot(user), via: 'register', ...over }),
    login: (user: string, over: Partial<IntegrationEvent> = {}) =>
      event(
        'user.login',
        user,
        { ...snapshot(user), method: 'password', amr: ['pwd'], session: null },
        over,
      ),
    renamed: (user: string, display_name: string) =>
      event('user.updated', user, {
        ...snapshot(user),
        display_name,
        changed: ['display_name'],
      }),
    deleted: (user: string) =>
      event('user.deleted', user, { id: user, deleted_at: '2031-05-04T03:02:01.007Z' }),
  };
};
