/** Passwords in published leaks, ordered by frequency. */
import { createRequire } from 'node:module';

const COMMON_PASSWORDS_MAX = 10_000;

let common: ReadonlySet<string> | undefined;

/** Whether the text is one of the 10,000 most common passwords. Upper and lower case are not distinguished. */
export function isCommonPassword(password: string): boolean {
  common ??= new Set(mostCommon());
  return common.has(password.normalize('NFC').toLowerCase());
}

/** The list has 400 KB and takes 0.1 s to load, so it is loaded on first use. */
const mostCommon = (): readonly string[] => {
  const require = createRequire(import.meta.url);
  const {
    dictionary,
  }: typeof import('@zxcvbn-ts/language-common') = require('@zxcvbn-ts/language-common');
  return dictionary['passwords-common'].slice(0, COMMON_PASSWORDS_MAX);
};
