/** Tests the compose override file that gives each service separate secrets and logins. */
import { readFileSync } from 'node:fs';
import { SETTING_FORMS } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { SERVICES } from './rules/rule.ts';

type Service = {
  readonly environment?: { readonly [name: string]: string };
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly command?: readonly string[];
  readonly networks?: unknown;
  readonly network_mode?: string;
};
type File = {
  readonly services: { readonly [name: string]: Service };
  readonly volumes: { readonly [name: string]: unknown };
};

/** Compose's tags for merging two files have no meaning here. */
const read = (path: string): File =>
  parseDocument(readFileSync(path, 'utf8'), { merge: true, logLevel: 'silent' }).toJS();
const base = read('docker-compose.yml');
const { services, volumes } = read('deploy/compose.compartments.yaml');

/** The values that a service gets from `env derive`, in place of the shared ones. */
const DERIVED = [
  ...['DATABASE_URL', 'REDIS_URL', 'KAFKA_USERNAME', 'KAFKA_PASSWORD', 'JWT_SECRET'],
  ...['JWT_SECRET_PREVIOUS', 'ENCRYPTION_KEY', 'ENCRYPTION_KEY_PREVIOUS'],
  ...['INTERNAL_KEY', 'INTERNAL_BEARERS', 'PAGES_KEY'],
];
/** Secrets that are not the deployment's own: of people, of mail, and of the event store that all services share. */
const SHARED = /^(ADMIN_PASSWORD|SMTP_URL|EVENTSTORE_URL|MIGRATION_DATABASE_URL)$/;

describe('the compose file for compartments', () => {
  it.each(SERVICES)('gives %s files of its own, and nothing of the deployment', (name) => {
    const environment = { ...base.services[name]?.environment, ...services[name]?.environment };
    for (const setting of DERIVED) {
      expect(environment[`${setting}_FILE`]).toBe(`/run/own/${setting}`);
    }
    const secrets = SETTING_FORMS.filter((form) => form.secret && !SHARED.test(form.name));
    const plain = secrets.filter((form) => Boolean(environment[form.name]));
    expect(plain.map((form) => form.name)).toEqual([]);
    // The secrets that compose mounts from the folder of the deployment's secrets.
    const mounted = services[name]?.secrets ?? ['none was taken away'];
    expect(mounted.filter((secret) => !SHARED.test(secret))).toEqual([]);
    expect(services[name]?.volumes).toEqual([`own-${name}:/run/own:ro`]);
    expect(volumes).toHaveProperty(`own-${name}`);
  });

  it('derives for each of them, where no network is, into folders that no other has', () => {
    const { compartments } = services;
    expect(compartments?.network_mode).toBe('none');
    expect(compartments?.volumes?.toSorted()).toEqual(
      [...SERVICES, 'redis'].map((name) => `own-${name}:/own/${name}`).toSorted(),
    );
    const script = compartments?.command?.at(-1) ?? '';
    expect(script).toContain(`for service in ${SERVICES.join(' ')}; do`);
    expect(script).toContain('node src/cardea.ts env derive --service "$$service"');
  });

  it('lets nobody without a password reach the broker from another container', () => {
    const { KAFKA_LISTENERS = '', KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: forms = '' } =
      services['kafka']?.environment ?? {};
    const plain = forms.split(',').filter((form) => form.endsWith(':PLAINTEXT'));
    for (const listener of KAFKA_LISTENERS.split(',')) {
      const [name, address] = listener.split('://');
      const isPlain = plain.includes(`${name}:PLAINTEXT`);
      expect(address?.startsWith('127.0.0.1:'), listener).toBe(isPlain);
    }
  });
});
