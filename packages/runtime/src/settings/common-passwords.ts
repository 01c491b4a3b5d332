/** Passwords that stand in published leaks, by how often they occur there. */
import { createRequire } from 'node:module';

const COMMON_PASSWORDS_MAX = 10_000;

let common: ReadonlySet<string> | undefined;

/** One of the 10,000 most common, in whatever case it is written. */
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
