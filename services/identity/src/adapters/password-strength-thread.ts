/** The thread that estimates passwords: answers each message by a score, in turn. */
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';

/** What is longer is not looked at: the time that it takes grows faster than the length. */
const LOOKED_AT_CHARACTERS = 64;

const require = createRequire(import.meta.url);
const {
  dictionary,
  adjacencyGraphs,
}: typeof import('@zxcvbn-ts/language-common') = require('@zxcvbn-ts/language-common');
const estimator = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });

parentPort?.on('message', (password: string) => {
  const seen = [...password.normalize('NFC')].slice(0, LOOKED_AT_CHARACTERS).join('');
  parentPort?.postMessage(estimator.check(seen).score);
});
