/**
 * Reads `firebase auth:export users.json --format=json`, an object with `users`, together with the hash parameters of
 * the project.
 */
import { readFileSync } from 'node:fs';
import { NotDone, WrongUsage } from '../failures.ts';
import { fieldsOf, objectIn, stringOf } from './file-text.ts';
import { foreignUser, importedUser, nameOf, type ReadForeignUsers } from './foreign-user.ts';
import { jsonElements } from './json-elements.ts';

export type FirebaseProject = {
  readonly signer_key: string;
  readonly salt_separator: string;
  readonly rounds: number;
  readonly mem_cost: number;
};

const VARIABLE = 'CARDEA_FIREBASE_HASH_CONFIG';
const ROUNDS_MAX = 1_024;
const MEM_COST_MAX = 32;

/** The parameters that the Firebase console shows ("Password hash parameters"), from a file or from the environment. */
export function firebaseProject(
  env: { readonly [name: string]: string | undefined },
  file: string | undefined,
): FirebaseProject {
  const text = file === undefined ? env[VARIABLE] : textIn(file);
  if (text === undefined) {
    throw new WrongUsage(`--hash-config or ${VARIABLE} has the hash parameters of the project`);
  }
  const member = (name: string): string =>
    new RegExp(`\\b${name}"?\\s*[:=]\\s*"?([\\w+/=-]*)`).exec(text)?.[1] ?? '';
  const [rounds, memory] = [Number(member('rounds')), Number(member('mem_cost'))];
  const signer = member('base64_signer_key');
  const isWhole = (number: number, max: number) =>
    Number.isInteger(number) && number >= 1 && number <= max;
  if (signer === '' || !isWhole(rounds, ROUNDS_MAX) || !isWhole(memory, MEM_COST_MAX)) {
    throw new NotDone('the hash parameters are not in the form of the console of Firebase');
  }
  const salt_separator = member('base64_salt_separator');
  return { signer_key: signer, salt_separator, rounds, mem_cost: memory };
}

function textIn(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new NotDone('the file of the hash parameters cannot be read');
  }
}

export const firebaseUsers = (project: FirebaseProject): ReadForeignUsers =>
  async function* (chunks) {
    for await (const { line, text } of jsonElements(chunks, { member: 'users' })) {
      yield foreignUser(line, text === undefined ? 'too_large' : readUser(text, project));
    }
  };

function readUser(text: string, project: FirebaseProject) {
  const fields = objectIn(text);
  if (fields === undefined) return 'unreadable';
  const email = stringOf(fields['email']);
  if (email === undefined) return 'no_address';
  if (fields['disabled'] === true) return 'disabled';
  const hash = stringOf(fields['passwordHash']);
  const salt = stringOf(fields['salt']);
  if (hash !== undefined && salt === undefined) return 'unsupported_hash';
  const picture = stringOf(fields['photoUrl']);
  return {
    user: importedUser({
      email,
      password_hash: hash,
      firebase: hash === undefined || salt === undefined ? undefined : { salt, ...project },
      display_name: nameOf(stringOf(fields['displayName'])),
      avatar_url: picture?.startsWith('https://') === true ? picture : undefined,
      email_verified: fields['emailVerified'] === true,
    }),
    notes: hasSecondFactor(fields['mfaInfo']) ? (['second_factor_left'] as const) : [],
  };
}

const hasSecondFactor = (info: unknown): boolean =>
  (Array.isArray(info) && info.length > 0) || fieldsOf(info) !== undefined;
