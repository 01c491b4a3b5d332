/** A model as clients send and see it. `faultsOfModel` checks its meaning, with a separate error code. */
import { documented, named } from '@cardea/contracts';
import Type from 'typebox';
import { TERMS_MAX, type Types } from '../relations/rules.ts';

const NAME_CHARS_MAX = 1_024;
/** Enough for the maximum number of relations with all of their parts and some terms of two keys. */
export const MODEL_KEYS_MAX = 10_000;

const name = Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX });
const term = Type.Union([name, Type.Object({ from: name, relation: name })]);
const terms = Type.Optional(Type.Array(term, { maxItems: TERMS_MAX }));
const rule = Type.Object({
  direct: Type.Optional(Type.Array(name, { maxItems: TERMS_MAX })),
  of: Type.Optional(name),
  union: terms,
  intersect: terms,
  exclude: terms,
});
const relations = Type.Record(Type.String(), rule);
const type = Type.Object({ relations: Type.Optional(relations) });

export const typesShape = Type.Unsafe<Types>(
  documented(Type.Record(Type.String(), type), {
    examples: [
      {
        user: {},
        document: {
          relations: {
            viewer: { direct: ['user', 'user:*'], union: ['editor'] },
            editor: { direct: ['user'] },
          },
        },
      },
    ],
  }),
);
/** Conditions are not supported. They are in the schema so that they are refused as part of a model. */
export const conditions = Type.Optional(
  Type.Unknown({ description: 'Refused: conditions and caveats have no counterpart here.' }),
);

export const modelShape = named(
  'Model',
  Type.Object({ version: Type.Integer({ minimum: 0 }), types: typesShape }),
);
