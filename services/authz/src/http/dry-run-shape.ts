/** Schemas that both dry runs share: of a batch of tuples and of a model. */
import { documented } from '@cardea/contracts';
import Type from 'typebox';
import type { DryRun } from '../engine/dry-run.ts';
import { fieldsShape } from './tuple-shape.ts';

const FLIPS_MAX = 1_000;
export const FLIPS_SHOWN = 100;
const RELATIONS_MAX = 100;

const relations = Type.Array(fieldsShape.relation, { minItems: 1, maxItems: RELATIONS_MAX });
export const dryRunShape = {
  relations: Type.Optional(documented(relations, { uniqueItems: true })),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: FLIPS_MAX, default: FLIPS_SHOWN })),
};

const count = Type.Integer({ minimum: 0 });
const flip = Type.Object({ ...fieldsShape, from: Type.Boolean(), to: Type.Boolean() });
export const dryRunOk = Type.Object({
  flips: Type.Array(flip),
  total: count,
  complete: Type.Boolean(),
  principals_affected: count,
  objects_affected: count,
});

export const shownDryRun = ({ principalsAffected, objectsAffected, flips, ...found }: DryRun) => ({
  ...found,
  flips: [...flips],
  principals_affected: principalsAffected,
  objects_affected: objectsAffected,
});
