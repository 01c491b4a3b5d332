/** The structure of a slice: a verb that writes has a file that decides, and that file has a test. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const text = (file: string): string => readFileSync(join(root, file), 'utf8');
const sources = readdirSync(join(root, 'services'))
  .map((service) => `services/${service}/src`)
  .flatMap(filesBelow)
  .filter((file) => file.endsWith('.ts'));

function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** Queries that need a body, and so are POST requests. */
const QUESTIONS = new Set([
  'services/authz/src/tuples/check',
  'services/authz/src/tuples/check-batch',
  'services/authz/src/models/dry-run',
  'services/authz/src/tuples/dry-run',
  'services/authz/src/tuples/filter',
  'services/authz/src/tuples/list-objects',
  'services/authz/src/tuples/list-users',
  'services/identity/src/oauth/introspection',
  'services/identity/src/oauth/userinfo',
  'services/identity/src/workspaces/applications/identify',
  'services/vault/src/policies/evaluate',
]);

const isPlain = (file: string): boolean => /\/[a-z0-9-]+\.ts$/.test(file);
const writingSlices = [
  ...new Set(
    sources
      .filter((file) => file.endsWith('.route.ts') && !text(file).includes("method: 'get'"))
      .map(dirname)
      .filter((folder) => !QUESTIONS.has(folder)),
  ),
];

/** Whether the file has its own test, or one for its noun, since several verbs often decide on one history. */
function isTested(file: string): boolean {
  const tests = [dirname(file), dirname(dirname(file))].flatMap((folder) =>
    sources.filter((each) => dirname(each) === folder && each.endsWith('.test.ts')),
  );
  return tests.some((test) => text(test).includes(`/${basename(file)}'`));
}

/**
 * The folder of a verb is in the folder of its noun, and contains a route that writes or a file with the verb's name.
 */
const isOfSlice = (file: string): boolean =>
  writingSlices.includes(dirname(file)) ||
  (/\/src\/.+\/.+\//.test(file) && basename(dirname(file)) === basename(file, '.ts'));

/** These verbs request mail without looking up a user, so `mailboxes/mailbox.ts` decides. */
const DECIDED_ELSEWHERE = [
  'services/identity/src/authentication/mailed-secrets/send-code',
  'services/identity/src/authentication/mailed-secrets/send-link',
  'services/identity/src/authentication/passwords/forgot-password',
];
/** This file calls several decisions in order, each with its own test. */
const IN_ORDER = ['services/identity/src/accounts/users/administer/decide-on-user.ts'];
/** This decision shares its history with those of `requests`, whose test covers both. */
const TESTED_ELSEWHERE: readonly string[] = [
  'services/approval/src/approval-rpc/consume/consume.ts',
];

describe('a slice', () => {
  it('that writes has a file that decides, held by a test', () => {
    const lacking = writingSlices.filter(
      (folder) =>
        !sources.some((file) => dirname(file) === folder && isPlain(file) && isTested(file)),
    );
    expect(lacking.toSorted()).toEqual(DECIDED_ELSEWHERE);
  });

  it('that decides has a test beside it', () => {
    const deciders = sources
      .filter((file) => isPlain(file) && isOfSlice(file))
      .filter((file) => /import \{[^}]*\b(accept|refuse)\b[^}]*\}/.test(text(file)));
    const lacking = deciders.filter((file) => !isTested(file));
    expect(lacking.toSorted()).toEqual([...TESTED_ELSEWHERE, ...IN_ORDER].toSorted());
  });
});
