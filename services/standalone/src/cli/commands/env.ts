/** Settings for a new deployment in containers, with generated secrets; printed once and stored nowhere. */
import { randomBytes } from 'node:crypto';
import { type Command, done } from '../command.ts';

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
