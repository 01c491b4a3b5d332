import { globSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { readSettings, SETTING_FORMS } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { MEANINGS, type Meaning } from '../../scripts/settings/meanings.ts';
import { filledIn, readCompose, referencesIn, VariableMissing } from './rules/compose-file.ts';
import { composeMutants } from './rules/compose-mutants.ts';
import * as rules from './rules/compose-rules.ts';
import {
  type ComposeSubject,
  environmentOf,
  SECRETS,
  SECRETS_FOLDER,
} from './rules/compose-subject.ts';
import { deploymentsOf, podOf } from './rules/kubernetes-rules.ts';
import { readManifests } from './rules/manifests.ts';
import { service } from './rules/mutated-compose.ts';
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
    expect([...new Set(required.map(({ name }) => name))]).toEqual(['SECRETS_FOLDER']);
    expect(required.every(({ rest }) => rest === 'run deploy/make-env.sh')).toBe(true);
    const without = { ...example, SECRETS_FOLDER: '' };
    expect(() => filledIn(readCompose(text), without)).toThrow(VariableMissing);
  });

  it('goes without mail where the file says so, and never without TLS in production', () => {
    const identity = service(readCompose(text), 'identity');
    const read = (SMTP_URL: string) => {
      const variables = { ...example, ENV: 'production', CARDEA_ALLOW_PLAINTEXT: undefined };
      const settings = readSettings(
        environmentOf(identity, { file: readCompose(text), variables }, { ...SECRETS, SMTP_URL }),
      );
      return 'faults' in settings ? settings.faults.map(({ name }) => name) : settings.ok.SMTP_URL;
    };
    expect(read('')).toBeUndefined();
    expect(read('smtp://mailbox:1025')).toEqual(['SMTP_URL']);
    expect(read('smtps://mail.example.com')).toHaveProperty('reveal');
  });

  it('gives a service as long to start as the manifests do', () => {
    const pods = deploymentsOf(readManifests('deploy/k8s/base')).map((each) => podOf(each));
    for (const name of SERVICES) {
      const { startupProbe: probe } =
        pods.flatMap(({ containers }) => containers).find((each) => each.name === name) ?? {};
      const seconds = Number(probe?.periodSeconds) * Number(probe?.failureThreshold);
      expect(service(readCompose(text), name).healthcheck?.start_period, name).toBe(`${seconds}s`);
    }
  });

  it('fits the schema with the file that opens Grafana, too', () => {
    const file = readCompose(rules.fileText('deploy/compose.observability.yaml'));
    expect(rules.fitsTheSchema({ file, variables: {} })).toEqual([]);
    expect(file.services['grafana']?.ports).toEqual(['127.0.0.1:3000:3000']);
  });

  it('plays the story with nothing but Node, for its container has no packages beside it', () => {
    const files = globSync('scripts/{tour.ts,tour/*.ts}');
    expect(files.length).toBeGreaterThan(5);
    const imported = files.flatMap((file) =>
      [...rules.fileText(file).matchAll(/^(?:import|\} from) .*'([^']+)';$/gm)].map(
        ([, from]) => from,
      ),
    );
    expect(imported.filter((from = '') => !/^(?:node:|\.)/.test(from))).toEqual([]);
  });

  it('keeps events in PostgreSQL unless EVENTSTORE_URL is set', () => {
    const { environment } = service(readCompose(text), 'identity');
    const url = (value: string | undefined): string | undefined =>
      filledIn(environment, { ...example, EVENTSTORE_URL: value })?.['EVENTSTORE_URL'];
    expect([url(''), url(undefined)]).toEqual(['', '']);
  });
});

/** Values that the file itself defines: names and ports of its containers, and its own servers. */
const FIXED_IN_COMPOSE = [
  ...['PORT', 'MANAGEMENT_PORT', 'INTERNAL_PORT', 'HOST', 'CARDEA_DATA'],
  ...['DATABASE_URL', 'MIGRATION_DATABASE_URL', 'REDIS_URL', 'KAFKA_BROKERS'],
  // Each service has these in a separate file.
  ...['INTERNAL_KEY', 'INTERNAL_BEARERS', 'PAGES_KEY'],
];
/**
 * The containers that read a setting, by the readers that the page of settings names. Commands run in the container
 * `migrate`.
 */
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
    'or a file sets $name of each container that reads it',
    ({ name }) => {
      const readers = readersOf(MEANINGS[name as keyof typeof MEANINGS]);
      const without = readers.filter((reader) => {
        const { environment = {} } = service(readCompose(text), reader);
        const isFile = environment[`${name}_FILE`] === `${SECRETS_FOLDER}${name}`;
        return (
          !isFile && !referencesIn(environment[name]).some((reference) => reference.name === name)
        );
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

  it('names settings, ports and images, and holds no secret', () => {
    const known = SETTING_FORMS.map(({ name }) => name);
    const others = Object.keys(example).filter((name) => !known.includes(name));
    expect(others.filter((name) => !/^[A-Z]+_(IMAGE|PORT)$/.test(name)).toSorted()).toEqual([
      'COMPOSE_PROFILES',
      'SECRETS_FOLDER',
    ]);
    const secrets = SETTING_FORMS.filter(({ secret }) => secret).map(({ name }) => name);
    expect(secrets.filter((name) => example[name])).toEqual([]);
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
