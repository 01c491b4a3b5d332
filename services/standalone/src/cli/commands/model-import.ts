/** Imports a model that is written for OpenFGA or SpiceDB as a tenant's model. */
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { importModel, MODEL_LANGUAGES, type ModelLanguage, readModel } from '@cardea/authz';
import { type Call, type Command, done, idOf, textOf } from '../command.ts';
import { dependenciesOf } from '../deployment.ts';
import { NotDone, WrongUsage } from '../failures.ts';

/** A larger model could not be published over HTTP either. */
const FILE_BYTES_MAX = 256 * 1024;
const VERSION_MAX = 2 ** 31 - 1;
const TENANT = /^[\x21-\x2b\x2d-\x7e]{1,128}$/;
const LANGUAGE_OF: { readonly [extension: string]: ModelLanguage } = {
  '.fga': 'openfga',
  '.openfga': 'openfga',
  '.zed': 'zed',
};

const REFUSALS = {
  version_conflict: 'the tenant has another version by now: look at GET /api/v1/fga/model',
  model_unchanged: 'the tenant has this model already',
} as const;

export const modelImport: Command = {
  name: 'model import',
  summary:
    "Publishes a tenant's next model from one for OpenFGA (.fga) or SpiceDB (.zed); with --print it only shows it.",
  example: 'model import --tenant 0198c2f4-8d5e-7c3a-9f21-6b0c4d1e2f3a --print documents.fga',
  words: ['<file>'],
  options: {
    tenant: { type: 'string', value: 'ID', help: 'tenant of the model' },
    language: {
      type: 'string',
      value: 'NAME',
      help: 'openfga or zed (default: by the name of the file)',
    },
    'expected-version': {
      type: 'string',
      value: 'N',
      help: 'import only if the model has this version',
    },
    print: {
      type: 'boolean',
      help: 'print the model as PUT /api/v1/fga/model takes it, and change nothing',
    },
  },
  run: async (call) => {
    const [file = ''] = call.words;
    const tenantId = idOf(call, 'tenant') ?? '';
    const prints = call.options['print'] === true;
    if (!prints && !TENANT.test(tenantId))
      throw new WrongUsage('--tenant takes the id of a tenant');
    const expectedVersion = versionOf(call);
    const read = await readModel(textIn(file), languageOf(call, file));
    if ('refused' in read) {
      const { refused } = read;
      if (refused === 'not_importable') throw new NotDone(read.message, refused);
      const places = read.faults.map(({ field, rule }) => `${field}: ${rule}`);
      throw new NotDone(`this is no model: ${places.join(', ')}`, refused);
    }
    const { types } = read;
    if (prints) return done([JSON.stringify(types, null, 2)], { types });
    const authz = dependenciesOf(await call.open(), 'authz');
    const imported = await importModel(authz, { tenantId, types, expectedVersion });
    if ('refused' in imported) throw new NotDone(REFUSALS[imported.refused], imported.refused);
    const { version } = imported;
    return done([`Published version ${version}.`], { version });
  },
};

function versionOf(call: Call): number | undefined {
  const given = textOf(call, 'expected-version');
  if (given === undefined) return undefined;
  const version = Number(given);
  if (Number.isInteger(version) && version >= 0 && version <= VERSION_MAX) return version;
  throw new WrongUsage('--expected-version takes a whole number');
}

function languageOf(call: Call, file: string): ModelLanguage {
  const given = textOf(call, 'language');
  const language = MODEL_LANGUAGES.find((name) => name === given);
  const guessed = given === undefined ? LANGUAGE_OF[extname(file).toLowerCase()] : undefined;
  const found = language ?? guessed;
  if (found === undefined) throw new WrongUsage(`--language takes ${MODEL_LANGUAGES.join(' or ')}`);
  return found;
}

function textIn(file: string): string {
  let text: Buffer;
  try {
    text = readFileSync(file);
  } catch {
    throw new NotDone('the file cannot be read');
  }
  if (text.length > FILE_BYTES_MAX) throw new NotDone('the file is too large');
  return text.toString('utf8');
}
