import { expect, it } from 'vitest';
import { services } from './services.ts';

type Kind = {
  readonly noun: string;
  readonly initial: unknown;
  readonly evolve: (...of: never[]) => unknown;
  readonly stateCarrying?: boolean;
};

const kinds = services.flatMap(({ name, streams }) =>
  (streams as readonly unknown[] as readonly Kind[]).map((stream) => ({
    ...{ kind: `${name} ${stream.noun}`, stream },
  })),
);

it('C4 every service registers its streams whole, so that this test sees them', () => {
  expect(kinds.length).toBeGreaterThan(30);
  for (const { kind, stream } of kinds) expect(typeof stream.evolve, kind).toBe('function');
});

it.each(kinds.filter(({ stream }) => stream.stateCarrying !== true))(
  'C4 the state of $kind is plain JSON, so that it is stored every hundred changes',
  ({ stream }) => {
    expect(JSON.parse(JSON.stringify(stream.initial))).toEqual(stream.initial);
    expect(String(stream.evolve)).not.toMatch(/new (Map|Set|Date|WeakMap)\b|BigInt\(/);
  },
);
