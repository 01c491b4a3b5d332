import { consumer } from '@cardea/event-bus';
import { ignored } from '@cardea/event-store';
import { lampEvents } from './lamp.ts';

export const heard = consumer({
  name: 'watch',
  from: [lampEvents],
  on: {
    'lamp.hung': ignored('it is dark'),
    'lamp.lit': { prepare: async () => {} },
    'lamp.dusted': { prepare: async () => {} },
  },
});
