import type { Module } from '@cardea/service';

export const lamps: Module = {
  policies: [{ name: 'watch', on: ['LampLit'], handle: async () => {} }],
};
