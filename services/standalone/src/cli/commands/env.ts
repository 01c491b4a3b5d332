/** Prints the settings of a new container deployment, and what a single service gets in their place. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';
import { ownEnvironment } from '@cardea/service';
import { type Command, done, textOf } from '../command.ts';
import { settingsOf } from '../deployment.ts';
import { WrongConfiguration, WrongUsage } from '../failures.ts';

const SECRET_BYTES = 48;
const KEY_BYTES = 32;

export const newEnvironment: Command = {
  name: 'env',
  summary: 'Prints the settings of a new deployment with new secrets. Keep them as its .env file.',
  run: async () => {
    const values = {
      ENV: 'production',
      PUBLIC_URL: 'https://cardea.example.com',
      DATABASE_URL: 'postgres://cardea:PASSWORD@postgres:5432/cardea?sslmode=verify-full',
      REDIS_URL: 'rediss://redis:6379',
      KAFKA_BROKERS: 'kafka:9092',
      KAFKA_TLS: 'true',
      CARDEA_REQUIRE_TLS: 'true',
      JWT_SECRET: randomBytes(SECRET_BYTES).toString('base64url'),
      ENCRYPTION_KEY: randomBytes(KEY_BYTES).toString('hex'),
    };
    const lines = Object.entries(values).map(([name, value]) => `${name}=${value}`);
    return done(lines, { environment: values });
  },
};

/** The folders and images of two services have other names than the services. */
const FOLDERS: { readonly [folder: string]: ServiceName } = {
  'webhook-dispatcher': 'webhooks',
  'audit-projector': 'audit',
};

export const derivedEnvironment: Command = {
  name: 'env derive',
  summary:
    'Prints the secrets and logins of one service, derived from JWT_SECRET and ENCRYPTION_KEY: its process needs no others.',
  example: 'env derive --service webhook-dispatcher',
  options: {
    service: { type: 'string', value: 'NAME', help: 'service to print' },
    out: {
      type: 'string',
      value: 'DIR',
      help: 'write each setting to a file there, as <NAME>_FILE reads it, and print only their names',
    },
  },
  run: async (call) => {
    const given = textOf(call, 'service') ?? '';
    const service = FOLDERS[given] ?? SERVICE_NAMES.find((name) => name === given);
    if (service === undefined) {
      throw new WrongUsage(`--service is one of ${SERVICE_NAMES.join(', ')}`);
    }
    const { settings } = settingsOf({ env: call.env, data: textOf(call, 'data') });
    if (settings.INTERNAL_KEY !== undefined) {
      throw new WrongConfiguration(
        'INTERNAL_KEY is set: these are the secrets of a service already, and nothing is derived from them.',
      );
    }
    const values = ownEnvironment(settings, service);
    const folder = textOf(call, 'out');
    if (folder !== undefined) {
      const files = written(folder, { ...NO_PREVIOUS, ...values });
      return done(files, { service, files });
    }
    const lines = Object.entries(values).map(([name, value]) => `${name}=${value}`);
    return done(lines, { service, environment: values });
  },
};

/** An empty file is an unset secret. The file names in the settings thus stay the same during a rotation. */
const NO_PREVIOUS = { JWT_SECRET_PREVIOUS: '', ENCRYPTION_KEY_PREVIOUS: '' };
const OWNER_ONLY_FOLDER = 0o700;
const OWNER_ONLY_FILE = 0o400;

/** Each file is first written under another name, so that a concurrent reader never sees a part of it. */
function written(folder: string, values: { readonly [name: string]: string }): readonly string[] {
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  return Object.entries(values).map(([name, value]) => {
    const file = join(folder, name);
    writeFileSync(`${file}.new`, value, { mode: OWNER_ONLY_FILE });
    renameSync(`${file}.new`, file);
    return file;
  });
}
