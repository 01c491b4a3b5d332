/**
 * Publishes a model that is written in another product's language, for the command line. It runs with the service's own
 * rights, and with the same checks and write barrier as a model that an admin publishes.
 */
import { canonicalJson } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import { Compile } from 'typebox/compile';
import { replicaTable } from '../adapters/replica-table.ts';
import { models } from '../models/model.ts';
import { MODEL_KEYS_MAX, typesShape } from '../models/model-shape.ts';
import { publish } from '../models/publish/publish.ts';
import { faultsOfModel, type ModelFault, type Types } from '../relations/rules.ts';
import { noBarrier, writeBarrier } from '../replicas/write-barrier.ts';
import { DEPTH_MAX, NotImportable } from './expression.ts';
import { typesOfZed } from './zed.ts';

/** OpenFGA's own parser is loaded with the first model in its language. */
const LANGUAGES = {
  openfga: async (text: string) => (await import('./openfga.ts')).typesOfOpenFga(text),
  zed: typesOfZed,
} as const;
export type ModelLanguage = keyof typeof LANGUAGES;
export const MODEL_LANGUAGES = Object.keys(LANGUAGES) as readonly ModelLanguage[];

export type ReadModel =
  | { readonly types: Types }
  /** `message` describes what has no counterpart. `faults` name locations in the resulting model. */
  | { readonly refused: 'not_importable'; readonly message: string }
  | { readonly refused: 'model_invalid'; readonly faults: readonly ModelFault[] };

export type Imported =
  | { readonly version: number }
  | { readonly refused: 'version_conflict' | 'model_unchanged' };

/** Converts the model to Cardea's own form. Nothing is stored. */
export async function readModel(text: string, language: ModelLanguage): Promise<ReadModel> {
  let types: Types;
  try {
    expectShallow(text);
    types = await LANGUAGES[language](text);
  } catch (error) {
    if (!(error instanceof NotImportable)) throw error;
    return { refused: 'not_importable', message: error.message };
  }
  if (!fits(types)) return { refused: 'not_importable', message: 'The model is too large.' };
  const faults = faultsOfModel(types);
  return faults.length > 0 ? { refused: 'model_invalid', faults } : { types };
}

const shape = Compile(typesShape);

/** Whether the model is within the limits of models that are published over HTTP. */
const fits = (types: Types): boolean => keysOf(types) <= MODEL_KEYS_MAX && shape.Check(types);

function keysOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value).reduce<number>((sum, each) => sum + keysOf(each), 0);
  return inside + (Array.isArray(value) ? 0 : Object.keys(value).length);
}

/** Third-party parsers take minutes for deeply nested input, so it is refused before they run. */
function expectShallow(text: string): void {
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    if (character === ')') depth = Math.max(0, depth - 1);
    if (depth > DEPTH_MAX) throw new NotImportable('Nested too deeply.');
  }
}

/** Publishes the tenant's next version, which has to follow `expectedVersion` if that is given. */
export async function importModel(
  { streams, systemCommand, ids, settings, database, clock }: ServiceDependencies,
  of: {
    readonly tenantId: string;
    readonly types: Types;
    readonly expectedVersion: number | undefined;
  },
): Promise<Imported> {
  const { tenantId, types } = of;
  const { state } = await streams.load(models, { tenantId, id: tenantId });
  // Distinguishes a repeat of the same import from an import that changes something.
  if (canonicalJson(state.types) === canonicalJson(types)) return { refused: 'model_unchanged' };
  const command = systemCommand(tenantId, 'import model', ids.next());
  const expectedVersion = of.expectedVersion ?? state.version;
  const decided = await streams.decideOn(models, tenantId, command, (model) =>
    publish({ expectedVersion, types }, model),
  );
  if (!decided.accepted) return { refused: decided.reason };
  const { position } = decided;
  if (position !== undefined) {
    const table = replicaTable(database);
    const barrier =
      settings.REDIS_URL === undefined
        ? noBarrier
        : writeBarrier({ table, ownId: () => undefined, clock });
    await barrier.pass(position);
  }
  return { version: decided.state.version };
}
