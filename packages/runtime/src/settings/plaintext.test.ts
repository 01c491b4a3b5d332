import { describe, expect, it } from 'vitest';
import { plaintextServers } from './plaintext.ts';
import { readSettings } from './read-settings.ts';

const required = {
  DATABASE_URL: 'postgres://u:pw-canary@127.0.0.1:5432/cardea',
  REDIS_URL: 'redis://127.0.0.1:6379',
  JWT_SECRET: 'a-secret-that-is-long-enough-for-this',
  ENCRYPTION_KEY: 'a1'.repeat(32),
};
const read = (env: { [name: string]: string }) => readSettings({ ...required, ...env });
const serversOf = (env: { [name: string]: string }) => {
  const settings = read(env);
  if (!('ok' in settings)) throw new Error('refused');
  return plaintextServers(settings.ok).map(({ setting, server }) => `${setting} ${server}`);
};
const faultsOf = (env: { [name: string]: string }) => {
  const settings = read(env);
  return 'faults' in settings ? settings.faults.map(({ name, fault }) => `${name} ${fault}`) : [];
};

const PLAIN: readonly (readonly [setting: string, value: string, server: string])[] = [
  ['DATABASE_URL', 'postgres://u:p@db/x', 'db:5432'],
  ['DATABASE_URL', 'postgresql://u:p@DB.example.com:6000/x?sslmode=disable', 'db.example.com:6000'],
  ['DATABASE_URL', 'postgres://u:p@db/x?ssl=true&sslmode=disable', 'db:5432'],
  ['DATABASE_URL', 'postgres://u:p@db/x?ssl=0', 'db:5432'],
  ['DATABASE_URL', 'postgres://u:p@localhost/x?host=db&port=7', 'db:7'],
  ['DATABASE_URL', 'postgres://u:p@[fd00::1]/x', '[fd00::1]:5432'],
  ['MIGRATION_DATABASE_URL', 'postgres://o:p@db/x', 'db:5432'],
  ['REDIS_URL', 'redis://:p@cache', 'cache:6379'],
  ['REDIS_URL', 'redis://127.0.0.1.example.com', '127.0.0.1.example.com:6379'],
  ['EVENTSTORE_URL', 'esdb://a:p@events?tls=false', 'events:2113'],
  ['EVENTSTORE_URL', 'esdb+discover://events:5/?keepAliveTimeout=1&TLS=False', 'events:5'],
  ['SMTP_URL', 'smtp://u:p@mail:25', 'mail:25'],
  ['SMTP_URL', 'smtp://mail?secure=true', 'mail:587'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://traces:4318', 'traces:4318'],
];
const NOT_PLAIN: readonly (readonly [setting: string, value: string])[] = [
  ['DATABASE_URL', 'postgres://u:p@db/x?sslmode=verify-full'],
  ['DATABASE_URL', 'postgres://u:p@db/x?sslmode=require'],
  ['DATABASE_URL', 'postgres://u:p@db/x?ssl=true'],
  ['DATABASE_URL', 'postgres://u:p@localhost/x?sslmode=disable'],
  ['DATABASE_URL', 'postgres://u:p@%2Fvar%2Frun%2Fpostgresql/x'],
  ['DATABASE_URL', 'postgres:///x?host=/var/run/postgresql'],
  ['REDIS_URL', 'rediss://:p@cache'],
  ['REDIS_URL', 'redis://[::1]:6379'],
  ['EVENTSTORE_URL', 'esdb://a:p@events'],
  ['EVENTSTORE_URL', 'esdb://127.0.0.1:2113?tls=false'],
  ['SMTP_URL', 'smtps://u:p@mail'],
  ['SMTP_URL', 'smtp://u:p@mail?requireTLS=true'],
  ['SMTP_URL', 'smtp://127.9.9.9:25'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://traces:4318'],
];

describe('plaintext to a server elsewhere', () => {
  it.each(PLAIN)('is %s=%s', (setting, value, server) => {
    expect(serversOf({ [setting]: value })).toEqual([`${setting} ${server}`]);
  });
  it.each(NOT_PLAIN)('is not %s=%s', (setting, value) => {
    expect(serversOf({ [setting]: value })).toEqual([]);
  });
  it('is each broker of Kafka without KAFKA_TLS', () => {
    const KAFKA_BROKERS = 'k1:9092,127.0.0.1:9092,k2:9093';
    expect(serversOf({ KAFKA_BROKERS })).toEqual([
      'KAFKA_BROKERS k1:9092',
      'KAFKA_BROKERS k2:9093',
    ]);
    expect(serversOf({ KAFKA_BROKERS, KAFKA_TLS: 'true' })).toEqual([]);
  });

  it('is refused where TLS is required, setting by setting and without a value', () => {
    const plain = {
      DATABASE_URL: 'postgres://u:pw-canary@db-canary/x',
      REDIS_URL: 'redis://:pw-canary@cache-canary',
      KAFKA_BROKERS: 'k1-canary:9092,k2-canary:9092',
      CARDEA_REQUIRE_TLS: 'true',
    };
    expect(faultsOf(plain)).toEqual([
      'DATABASE_URL speaks plaintext to a server elsewhere',
      'REDIS_URL speaks plaintext to a server elsewhere',
      'KAFKA_BROKERS speaks plaintext to a server elsewhere',
    ]);
    expect(JSON.stringify(read(plain))).not.toContain('canary');
    expect(faultsOf({ ...plain, CARDEA_REQUIRE_TLS: 'false' })).toEqual([]);
  });

  it('is let pass for the servers that are named, by host or by host and port', () => {
    const plain = {
      DATABASE_URL: 'postgres://u:p@db/x',
      REDIS_URL: 'redis://Cache:7000',
      KAFKA_BROKERS: 'k1:9092,k2:9092',
      CARDEA_REQUIRE_TLS: 'true',
    };
    expect(faultsOf({ ...plain, CARDEA_ALLOW_PLAINTEXT: 'DB,cache:7000,k1,k2:9092' })).toEqual([]);
    const names = (allow: string) =>
      faultsOf({ ...plain, CARDEA_ALLOW_PLAINTEXT: allow }).map((fault) => fault.split(' ')[0]);
    expect(names('db,cache:6379,k1')).toEqual(['REDIS_URL', 'KAFKA_BROKERS']);
    expect(names('db.example.com,cache,k1,k2')).toEqual(['DATABASE_URL']);
    expect(names('http://db')).toContain('CARDEA_ALLOW_PLAINTEXT');
  });
});
