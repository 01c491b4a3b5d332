/** Rules for the resources that a container may use, and for the location of its secrets. */
import { referencesIn } from './compose-file.ts';
import { type ComposeSubject, SECRETS_FOLDER, servicesOf } from './compose-subject.ts';
import type { Rule } from './rule.ts';

const IS_SECRET = /SECRET|PASSWORD|ENCRYPTION_KEY/;
const OWNERS_FOLDER = 'SECRETS_FOLDER';

/** Anybody who may list containers can read their variables, but cannot read a file in a folder of its owner. */
export const keepsSecretsInFiles: Rule<ComposeSubject> = (subject) => {
  const { secrets } = subject.file;
  const inFiles = Object.entries(secrets)
    .filter(([name, { file }]) => {
      const [folder] = referencesIn(file);
      const isOwners = folder?.name === OWNERS_FOLDER && folder.operator === ':?';
      return !isOwners || !file.endsWith(`}/${name}`);
    })
    .map(([name]) => `${name} is not in the folder of secrets`);
  const inVariables = servicesOf(subject).flatMap(([service, { environment = {}, secrets: own }]) =>
    Object.entries(environment).flatMap(([name, value]) => {
      const text = String(value);
      if (text.startsWith(SECRETS_FOLDER)) {
        const given = own?.includes(text.slice(SECRETS_FOLDER.length)) === true;
        return given ? [] : [`${service} is not given ${name}`];
      }
      const isBare = IS_SECRET.test(name) || /:\/\/[^/@]*:[^/@]+@/.test(text);
      return isBare ? [`${service} has ${name} as a variable`] : [];
    }),
  );
  const unknown = servicesOf(subject).flatMap(([service, { secrets: own = [] }]) =>
    own.filter((name) => secrets[name] === undefined).map((name) => `${service}: no ${name}`),
  );
  return [...inFiles, ...inVariables, ...unknown];
};

/** Health checks run every few seconds in each container, so none of them may start Node or Java. */
export const checksCheaply: Rule<ComposeSubject> = (subject) =>
  servicesOf(subject)
    .filter(([, { healthcheck: check }]) =>
      /\b(node|java|kafka-[\w-]+\.sh)\b/.test(check?.test?.join(' ') ?? ''),
    )
    .map(([name]) => `to look after ${name} is dear`);

/** A container that is out of control fills neither memory, nor the process table, nor the disk with its output. */
export const boundsEach: Rule<ComposeSubject> = (subject) =>
  servicesOf(subject)
    .filter(
      ([, { mem_limit: memory, pids_limit: processes, logging }]) =>
        !/^\d+[mg]$/.test(memory ?? '') ||
        !(Number(processes) > 0) ||
        !logging?.options?.['max-size'] ||
        !logging.options['max-file'],
    )
    .map(([name]) => `${name} is not bounded`);
