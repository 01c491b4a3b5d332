import { expect, it } from 'vitest';
import { given } from './given.ts';

type Opened = { readonly type: 'Opened'; readonly data: object };
const opened: Opened = { type: 'Opened', data: {} };
const door = {
  initial: { open: false },
  evolve: (_: { open: boolean }, __: Opened) => ({ open: true }),
};
const open = (state: { open: boolean }) =>
  state.open
    ? ({ accepted: false, reason: 'already_open', events: [] } as const)
    : ({ accepted: true, events: [opened] } as const);

it('folds the history before it decides', () => {
  given(door).when(open).accepts(opened);
  given(door, opened).when(open).refuses('already_open');
  expect(given(door).when(open).state).toEqual({ open: true });
});

it('fails when other events or another reason come out', () => {
  expect(() => given(door).when(open).accepts()).toThrow();
  expect(() => given(door, opened).when(open).accepts(opened)).toThrow();
});

it('fails when a decision changes the state that it was given', () => {
  const meddling = (state: { open: boolean }) => {
    state.open = true;
    return { accepted: true, events: [] } as const;
  };
  expect(() => given({ ...door, initial: { open: false } }).when(meddling)).toThrow(
    'leaves the state',
  );
});
