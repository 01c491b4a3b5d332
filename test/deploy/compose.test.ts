import { parseEnv } from 'node:util';
import { readSettings, SETTING_FORMS } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import {
  type ComposeFile,
  type ComposeService,
  filledIn,
  readCompose,
  referencesIn,
  VariableMissing,
} from './rules/compose-file.ts';
import * as rules from './rules/compose-rules.ts';
import { brokenRules, type Mutant } from './rules/rule.ts';

const text = rules.fileText('docker-compose.yml');
const example = parseEnv(rules.fileText('.env.example')) as { [name: string]: string };
const subject = (): rules.ComposeSubject => ({ file: readCompose(text), variables: example });
const service = (file: ComposeFile, name: string): ComposeService => {
  const found = file.services[name];
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
};
const settings = (file: ComposeFile, name: string): { [name: string]: string } => {
  const found = service(file, name);
  found.environment = { ...found.environment };
  return found.environment;
};

const reference = (inside: string): string => `$\{${inside}}`;

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

describe('.env.example', () => {
  it('names what the compose file asks for, and nothing else', () => {
    const asked = [...new Set(referencesIn(readCompose(text)).map(({ name }) => name))];
    expect(Object.keys(example).toSorted()).toEqual(asked.toSorted());
  });

  it('names settings, and the passwords of the servers that come along', () => {
    const known = SETTING_FORMS.map(({ name }) => name);
    const others = Object.keys(example).filter((name) => !known.includes(name));
    expect(others.toSorted()).toEqual([
      'DATABASE_PASSWORD',
      'GATEWAY_TRUSTED_PROXIES',
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
    ]);
  });
});

const mutants: readonly Mutant<ComposeFile>[] = [
  {
    what: 'a misspelt key',
    breaks: rules.fitsTheSchema,
    spoil: (file) => Object.assign(service(file, 'vault'), { helthcheck: {} }),
  },
  {
    what: 'a network of the wrong shape',
    breaks: rules.fitsTheSchema,
    spoil: (file) => Object.assign(service(file, 'vault'), { networks: 3 }),
  },
  {
    what: 'no webhook-dispatcher',
    breaks: rules.hasAllParts,
    spoil: (file) => {
      delete file.services['webhook-dispatcher'];
    },
  },
  {
    what: 'Prometheus for everybody',
    breaks: rules.hasAllParts,
    spoil: (file) => {
      delete service(file, 'prometheus').profiles;
    },
  },
  {
    what: 'a published database',
    breaks: rules.publishesTwoPorts,
    spoil: (file) => {
      service(file, 'postgres').ports = ['127.0.0.1:5432:5432'];
    },
  },
  {
    what: 'a gateway for the whole network',
    breaks: rules.publishesTwoPorts,
    spoil: (file) => {
      service(file, 'gateway').ports = ['8080:8080'];
    },
  },
  {
    what: 'a secret with a default',
    breaks: rules.hasNoDefaultSecret,
    spoil: (file) => {
      settings(file, 'authz')['JWT_SECRET'] = reference(
        'JWT_SECRET:-change-me-to-at-least-32-random-characters',
      );
    },
  },
  {
    what: 'a password in a URL',
    breaks: rules.hasNoDefaultSecret,
    spoil: (file) => {
      settings(file, 'authz')['DATABASE_URL'] = 'postgres://cardea:secret@postgres:5432/cardea';
    },
  },
  {
    what: 'no health check',
    breaks: rules.checksHealth,
    spoil: (file) => {
      delete service(file, 'eventstore').healthcheck;
    },
  },
  {
    what: 'a health check without a limit',
    breaks: rules.checksHealth,
    spoil: (file) => {
      const { timeout: _, ...check } = service(file, 'audit-projector').healthcheck ?? {};
      service(file, 'audit-projector').healthcheck = check;
    },
  },
  {
    what: 'a file system that can be written',
    breaks: rules.confinesOurs,
    spoil: (file) => {
      service(file, 'approval').read_only = false;
    },
  },
  {
    what: 'capabilities',
    breaks: rules.confinesOurs,
    spoil: (file) => {
      delete service(file, 'identity').cap_drop;
    },
  },
  {
    what: 'a privileged container',
    breaks: rules.gainsNoPrivileges,
    spoil: (file) => {
      service(file, 'kafka').privileged = true;
    },
  },
  {
    what: 'root',
    breaks: rules.gainsNoPrivileges,
    spoil: (file) => {
      service(file, 'vault').user = '0:0';
    },
  },
  {
    what: 'a service that starts before its tables',
    breaks: rules.waitsForMigrations,
    spoil: (file) => {
      service(file, 'vault').depends_on = { postgres: { condition: 'service_started' } };
    },
  },
  {
    what: 'topics that nobody makes',
    breaks: rules.migratesOnce,
    spoil: (file) => {
      service(file, 'migrate').command = ['node', 'src/cardea.ts', 'migrate', '--all'];
    },
  },
  {
    what: 'the newest Redis',
    breaks: rules.pinsImages,
    spoil: (file) => {
      service(file, 'redis').image = 'redis:latest';
    },
  },
  {
    what: 'a setting that is none',
    breaks: rules.knowsItsSettings,
    spoil: (file) => {
      settings(file, 'vault')['KAFKA_BROKER'] = 'kafka:9092';
    },
  },
  {
    what: 'a setting of the wrong form',
    breaks: rules.knowsItsSettings,
    spoil: (file) => {
      settings(file, 'vault')['JWT_EXPIRY'] = 'soon';
    },
  },
  {
    what: 'a secret of its own',
    breaks: rules.agreesOnSecrets,
    spoil: (file) => {
      settings(file, 'vault')['JWT_SECRET'] = reference('ENCRYPTION_KEY:?run deploy/make-env.sh');
    },
  },
  {
    what: 'a database with a way out',
    breaks: rules.keepsServersInside,
    spoil: (file) => {
      service(file, 'postgres').networks = ['inside', 'outside'];
    },
  },
  {
    what: 'an inside that is none',
    breaks: rules.keepsServersInside,
    spoil: (file) => {
      file.networks['inside'] = {};
    },
  },
  {
    what: 'ten seconds to stop',
    breaks: rules.leavesTimeToStop,
    spoil: (file) => {
      service(file, 'identity').stop_grace_period = '10s';
    },
  },
  {
    what: "vault in identity's image",
    breaks: rules.buildsEachService,
    spoil: (file) => {
      service(file, 'vault').build = {
        dockerfile: 'deploy/Dockerfile',
        args: { SERVICE: 'identity' },
      };
    },
  },
  {
    what: 'a mount of nothing',
    breaks: rules.mountsWhatExists,
    spoil: (file) => {
      service(file, 'postgres').volumes = ['./deploy/nothing.sh:/x:ro'];
    },
  },
  {
    what: 'more connections than there are',
    breaks: rules.connectionsFit,
    spoil: (file) => {
      settings(file, 'identity')['DATABASE_POOL_SIZE'] = '200';
    },
  },
];

describe('O6 a compose file', () => {
  it.each(mutants)('O6 with $what is refused by $breaks.name', ({ breaks, spoil }) => {
    const { file, variables } = structuredClone(subject());
    spoil(file);
    expect(brokenRules(rules.composeRules, { file, variables })).toContain(breaks.name);
  });

  it('O6 has for each rule a broken one', () => {
    const tried = new Set(mutants.map(({ breaks }) => breaks.name));
    expect(rules.composeRules.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual(
      [],
    );
  });
});
