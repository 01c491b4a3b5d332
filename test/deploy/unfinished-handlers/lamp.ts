/** The stream, the table and the events of another service that the other examples handle. */
import { integrationEvents } from '@cardea/contracts';
import { orNull, table } from '@cardea/read-models';
import Type from 'typebox';

export type LampEvent =
  | { readonly type: 'LampHung'; readonly data: { readonly id: string; readonly watts: number } }
  | { readonly type: 'LampLit'; readonly data: { readonly id: string; readonly at: string } }
  | {
      readonly type: 'LampDusted';
      readonly concerns?: 'relay' | 'dust';
      readonly data: { readonly id: string };
    };

export const lamps = table('lamps', {
  key: ['id'],
  columns: { id: 'text', watts: 'integer', lit_at: orNull('timestamptz') },
});

export const lampEvents = integrationEvents('vault', {
  'lamp.hung': Type.Object({ id: Type.String() }),
  'lamp.lit': Type.Object({ id: Type.String(), at: Type.String() }),
  'lamp.dusted': { schema: Type.Object({ id: Type.String() }), concerns: ['audit'] },
});
