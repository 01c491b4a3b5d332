import { catalogue } from '@cardea/pages';

export const texts = catalogue({
  en: { lit: 'The lamp is lit.', dark: 'The lamp is dark.' },
  de: { lit: 'Die Lampe brennt.' },
});
