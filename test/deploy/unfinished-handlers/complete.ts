/** The other examples without their fault: this one compiles. */
import { consumer, relay } from '@cardea/event-bus';
import { ignored } from '@cardea/event-store';
import { catalogue } from '@cardea/pages';
import { projection } from '@cardea/read-models';
import { policy } from '@cardea/service';
import { type LampEvent, lampEvents, lamps } from './lamp.ts';

export const shown = projection<LampEvent>()({
  name: 'lamps',
  log: 'vault',
  tables: [lamps],
  on: {
    LampHung: ({ data }) => [lamps.put({ ...data, lit_at: null })],
    LampLit: ({ data }) => [lamps.patch({ id: data.id }, { lit_at: data.at })],
  },
});

export const watched = policy<LampEvent>()({
  name: 'watch',
  on: { LampHung: ignored('it is dark'), LampLit: async () => {} },
});

export const dusted = policy<LampEvent>()({
  name: 'dust',
  on: {
    LampHung: ignored('it is clean'),
    LampLit: ignored('light shows no dust'),
    LampDusted: async () => {},
  },
});

export const mapped = relay<LampEvent, typeof lampEvents>({
  LampHung: ({ data: { id } }) => ({ type: 'lamp.hung', data: { id } }),
  LampLit: ({ data: { id, at } }) => ({ type: 'lamp.lit', data: { id, at } }),
  LampDusted: ({ data: { id } }) => ({ type: 'lamp.dusted', data: { id } }),
});

export const heard = consumer({
  name: 'watch',
  from: [lampEvents],
  on: {
    'lamp.lit': { apply: ({ data }) => ({ text: data.at }) },
    'lamp.hung': ignored('it is dark'),
  },
});

export const audited = consumer({
  name: 'audit',
  from: [lampEvents],
  on: {
    'lamp.lit': ignored('it is bright'),
    'lamp.hung': ignored('it is dark'),
    'lamp.dusted': { prepare: async () => {} },
  },
});

export const texts = catalogue({
  en: { lit: 'The lamp is lit.', dark: 'The lamp is dark.' },
  de: { lit: 'Die Lampe brennt.', dark: 'Die Lampe ist dunkel.' },
});
