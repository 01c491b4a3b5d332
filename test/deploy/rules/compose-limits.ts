/** Rules for what a container may use up, and for where its secrets are. */
import { referencesIn } from './compose-file.ts';
import { type ComposeSubject, SECRETS_FOLDER, servicesOf } from './compose-subject.ts';
import type { Rule } from './rule.ts';

const IS_SECRET = /SECRET|PASSWORD|ENCRYPTION_KEY/;
const OWNERS_FOLDER = 'SECRETS_FOLDER';

/** Variables of a container can be read by whoever may list containers; a file in a folder of its owner cannot. */
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

/** A look comes every few seconds, in each container: none of them starts Node or Java. */
export const checksCheaply: Rule<ComposeSubject> = (subject) =>
  servicesOf(subject)
    .filter(([, { healthcheck: check }]) =>
      /\b(node|java|kafka-[\w-]+\.sh)\b/.test(check?.test?.join(' ') ?? ''),
    )
    .map(([name]) => `to look after ${name} is dear`);

/** What runs wild fills neither memory, nor the table of processes, nor the disk with what it prints. */
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
