/** Settings for a new deployment in containers, with generated secrets; printed once and stored nowhere. */
import { randomBytes } from 'node:crypto';
import { SERVICE_NAMES, type ServiceName } from '@cardea/contracts';
import { deriveFrom, serviceSecrets } from '@cardea/crypto';
import type { Secret } from '@cardea/runtime';
import { internalSecretsOf } from '@cardea/service';
import { type Command, done, textOf } from '../command.ts';
import { settingsOf } from '../deployment.ts';
import { WrongConfiguration, WrongUsage } from '../failures.ts';

const SECRET_BYTES = 48;
const KEY_BYTES = 32;

export const newEnvironment: Command = {
  name: 'env',
  summary: 'Prints the settings of a new deployment, with fresh secrets: keep them as its .env.',
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

/** Folders and images are called otherwise than two of the services in them. */
const FOLDERS: { readonly [folder: string]: ServiceName } = {
  'webhook-dispatcher': 'webhooks',
  'audit-projector': 'audit',
};

export const derivedEnvironment: Command = {
  name: 'env derive',
  summary:
    'Prints the secrets of one service, derived from JWT_SECRET and ENCRYPTION_KEY: its process needs no others.',
  example: 'env derive --service webhook-dispatcher',
  options: { service: { type: 'string', value: 'NAME', help: 'which' } },
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
    const secrets = serviceSecrets(settings, service);
    const shown = Object.entries(secrets).flatMap(([name, value]: [string, Secret | undefined]) =>
      value === undefined ? [] : [[name, value.reveal()] as const],
    );
    const internal = Object.entries(internalSecretsOf(deriveFrom(settings), service));
    const values = Object.fromEntries([...shown, ...internal]);
    const lines = Object.entries(values).map(([name, value]) => `${name}=${value}`);
    return done(lines, { service, environment: values });
  },
};
