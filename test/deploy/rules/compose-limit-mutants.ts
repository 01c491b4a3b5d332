/** Compose files that let a container use too many resources, or reveal a secret. */
import type { ComposeFile } from './compose-file.ts';
import * as limits from './compose-limits.ts';
import { reference, service, settings } from './mutated-compose.ts';
import type { Mutant } from './rule.ts';

export const limitMutants: readonly Mutant<ComposeFile>[] = [
  {
    what: 'a secret as a variable',
    breaks: limits.keepsSecretsInFiles,
    spoil: (file) => {
      settings(file, 'authz')['JWT_SECRET'] = reference('JWT_SECRET:-');
    },
  },
  {
    what: 'a secret in a folder of everybody',
    breaks: limits.keepsSecretsInFiles,
    spoil: (file) => {
      file.secrets['JWT_SECRET'] = { file: './deploy/JWT_SECRET' };
    },
  },
  {
    what: 'a secret that a service reads and is not given',
    breaks: limits.keepsSecretsInFiles,
    spoil: (file) => {
      service(file, 'vault').secrets = ['DATABASE_URL'];
    },
  },
  {
    what: 'a Node for each look',
    breaks: limits.checksCheaply,
    spoil: (file) => {
      const check = service(file, 'vault').healthcheck;
      service(file, 'vault').healthcheck = { ...check, test: ['CMD', 'node', '/check.mjs'] };
    },
  },
  {
    what: 'logs without end',
    breaks: limits.boundsEach,
    spoil: (file) => {
      service(file, 'kafka').logging = { driver: 'local' };
    },
  },
  {
    what: 'memory without end',
    breaks: limits.boundsEach,
    spoil: (file) => {
      delete service(file, 'authz').mem_limit;
    },
  },
  {
    what: 'a password in a URL',
    breaks: limits.keepsSecretsInFiles,
    spoil: (file) => {
      settings(file, 'authz')['DATABASE_URL'] = 'postgres://cardea:secret@postgres:5432/cardea';
    },
  },
];
