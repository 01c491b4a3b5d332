import { expect, it } from 'vitest';
import { OpenRequests, type Placed } from './http-context.ts';

it('has those that were added and are not deleted', () => {
  const open = new OpenRequests<Placed & { readonly name: string }>();
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => ({ name, place: 0 }));
  if (!a || !b || !c || !d) throw new Error('four');
  const names = () => open.all().map(({ name }) => name);
  for (const one of [a, b, c]) open.add(one);
  open.delete(a);
  expect(names().toSorted()).toEqual(['b', 'c']);
  open.add(d);
  open.delete(c);
  expect(names().toSorted()).toEqual(['b', 'd']);
  open.delete(d);
  open.delete(b);
  expect(names()).toEqual([]);
  open.add(a);
  expect(names()).toEqual(['a']);
});
