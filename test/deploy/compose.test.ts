import { parseEnv } from 'node:util';
import { readSettings, SETTING_FORMS } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { MEANINGS, type Meaning } from '../../scripts/settings/meanings.ts';
import { filledIn, readCompose, referencesIn, VariableMissing } from './rules/compose-file.ts';
import { composeMutants, service } from './rules/compose-mutants.ts';
import * as rules from './rules/compose-rules.ts';
import type { ComposeSubject } from './rules/compose-subject.ts';
import { brokenRules, SERVICES } from './rules/rule.ts';

const text = rules.fileText('docker-compose.yml');
const example = parseEnv(rules.fileText('.env.example')) as { [name: string]: string };
const subject = (): ComposeSubject => ({ file: readCompose(text), variables: example });
describe('docker-compose.yml', () => {
  it.each(rules.composeRules.map((rule) => [rule.name, rule] as const))('%s', (_, rule) => {
    expect(rule(subject())).toEqual([]);
  });

  it('starts nothing before secrets were made', () => {
    const required = referencesIn(readCompose(text)).filter(({ operator }) => operator === ':?');
    const names = [...new Set(required.map(({ name }) => name))];
    expect(names.toSorted()).toEqual([
      'DATABASE_PASSWORD',
      'ENCRYPTION_KEY',
      'GRAFANA_PASSWORD',
      'JWT_SECRET',
      'POSTGRES_PASSWORD',
      'REDIS_PASSWORD',
    ]);
    expect(required.every(({ rest }) => rest === 'run deploy/make-env.sh')).toBe(true);
    for (const name of names) {
      const without = { ...example, [name]: '' };
      expect(() => filledIn(readCompose(text), without)).toThrow(VariableMissing);
    }
  });

  it('starts nothing before somebody said where mail goes, and goes without it when told so', () => {
    const { environment } = service(readCompose(text), 'identity');
    const read = (SMTP_URL: string | undefined) => {
      const secrets = {
        JWT_SECRET: 'b2'.repeat(20),
        ENCRYPTION_KEY: 'a1'.repeat(32),
        ADMIN_PASSWORD: 'a phrase of the operator',
      };
      const own = { ENV: 'production', SMTP_URL, CARDEA_ALLOW_PLAINTEXT: undefined };
      const settings = readSettings(
        filledIn(environment, { ...example, ...secrets, ...own }) ?? {},
      );
      return 'faults' in settings ? settings.faults.map(({ name }) => name) : settings.ok.SMTP_URL;
    };
    expect(() => read(undefined)).toThrow('SMTP_URL');
    expect(read('')).toBeUndefined();
    expect(read('smtp://mailbox:1025')).toEqual(['SMTP_URL']);
    expect(read('smtps://mail.example.com')).toHaveProperty('reveal');
  });

  it('fits the schema with the file that opens Grafana, too', () => {
    const file = readCompose(rules.fileText('deploy/compose.observability.yaml'));
    expect(rules.fitsTheSchema({ file, variables: {} })).toEqual([]);
    expect(file.services['grafana']?.ports).toEqual(['127.0.0.1:3000:3000']);
  });

  it('keeps events in PostgreSQL where EVENTSTORE_URL is set and empty', () => {
    const { environment } = service(readCompose(text), 'identity');
    const url = (value: string | undefined): string | undefined =>
      filledIn(environment, { ...example, EVENTSTORE_URL: value })?.['EVENTSTORE_URL'];
    expect(url('')).toBe('');
    expect(url(undefined)).toBe('esdb://eventstore:2113?tls=false');
  });
});

/** What the file itself holds together: names and ports of its containers, and its own servers. */
const FIXED_IN_COMPOSE = [
  ...['PORT', 'MANAGEMENT_PORT', 'INTERNAL_PORT', 'HOST', 'CARDEA_DATA'],
  ...['DATABASE_URL', 'MIGRATION_DATABASE_URL', 'REDIS_URL', 'KAFKA_BROKERS'],
  // Of one service: in a file of its own.
  ...['INTERNAL_KEY', 'INTERNAL_BEARERS'],
];
/** Who reads a setting, where the page of settings says so; commands run in the container `migrate`. */
const CONTAINERS: { readonly [reader: string]: readonly string[] } = {
  'all but identity': SERVICES.filter((name) => name !== 'identity'),
  '`topics create`': ['migrate'],
  'the gateway': ['gateway'],
  '`doctor`': ['migrate'],
  commands: ['migrate'],
  standalone: [],
};
const readersOf = ({ readBy }: Meaning): readonly string[] =>
  readBy === undefined
    ? SERVICES
    : readBy.split(', ').flatMap((each) => CONTAINERS[each] ?? [each]);

describe('.env', () => {
  it.each(SETTING_FORMS.filter(({ name }) => !FIXED_IN_COMPOSE.includes(name)))(
    'sets $name of each container that reads it',
    ({ name }) => {
      const readers = readersOf(MEANINGS[name as keyof typeof MEANINGS]);
      const without = readers.filter((reader) => {
        const value = service(readCompose(text), reader).environment?.[name];
        return !referencesIn(value).some((reference) => reference.name === name);
      });
      expect(without).toEqual([]);
    },
  );
});

describe('.env.example', () => {
  it('names what the compose file asks for, and nothing else', () => {
    const asked = [...new Set(referencesIn(readCompose(text)).map(({ name }) => name))];
    // Compose itself reads which profiles are enabled.
    expect(Object.keys(example).toSorted()).toEqual([...asked, 'COMPOSE_PROFILES'].toSorted());
  });

  it('names settings, and the passwords of the servers that come along', () => {
    const known = SETTING_FORMS.map(({ name }) => name);
    const others = Object.keys(example).filter((name) => !known.includes(name));
    expect(others.toSorted()).toEqual([
      'COMPOSE_PROFILES',
      'DATABASE_PASSWORD',
      'GRAFANA_PASSWORD',
      'POSTGRES_PASSWORD',
      'REDIS_PASSWORD',
    ]);
  });

  it('O4 is refused in production, for everybody knows its secrets', () => {
    const { environment } = service(readCompose(text), 'identity');
    const production = filledIn(environment, { ...example, ENV: 'production' });
    const read = readSettings(production ?? {});
    expect('faults' in read && read.faults.map(({ name }) => name)).toEqual([
      'JWT_SECRET',
      'ENCRYPTION_KEY',
      'ADMIN_PASSWORD',
    ]);
  });
});

describe('O6 a compose file', () => {
  it.each(composeMutants)('O6 with $what is refused by $breaks.name', ({ breaks, spoil }) => {
    const { file, variables } = structuredClone(subject());
    spoil(file);
    expect(brokenRules(rules.composeRules, { file, variables })).toContain(breaks.name);
  });

  it('O6 has for each rule a broken one', () => {
    const tried = new Set(composeMutants.map(({ breaks }) => breaks.name));
    expect(rules.composeRules.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual(
      [],
    );
  });
});
