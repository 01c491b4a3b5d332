/** The thread that estimates the strength of passwords. It answers each message with a score, in order. */
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';

/** Only these first characters are examined, because the time grows faster than the length. */
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
