/** How hard a password is to guess, as zxcvbn estimates it. */
import { createRequire } from 'node:module';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';

/** What is longer is not looked at: the time that it takes grows faster than the length. */
const LOOKED_AT_CHARACTERS = 64;

let estimator: ZxcvbnFactory | undefined;

/** From 0, guessed at once, to 4. */
export function strengthOf(password: string): number {
  estimator ??= withDictionaries();
  const seen = [...password.normalize('NFC')].slice(0, LOOKED_AT_CHARACTERS).join('');
  return estimator.check(seen).score;
}

/** They take a second to load: only where a tenant asks for an estimate. */
function withDictionaries(): ZxcvbnFactory {
  const require = createRequire(import.meta.url);
  const {
    dictionary,
    adjacencyGraphs,
  }: typeof import('@zxcvbn-ts/language-common') = require('@zxcvbn-ts/language-common');
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
}
