import { given } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import {
  type AdministratorListEvent,
  administratorLists,
  build,
  LEAVING_MS,
  type Leaving,
  recordDeparture,
  remaining,
  settle,
} from './administrator-list.ts';

const now = new Date('2026-01-01T10:00:00Z');
const later = new Date(now.getTime() + LEAVING_MS);
const leaves = (id: string, command_id = 'c1', at = now): Leaving => ({
  id,
  command_id,
  at: at.toISOString(),
});
const list = (ids: readonly string[], ...leaving: readonly Leaving[]): AdministratorListEvent => ({
  type: 'AdministratorsChanged',
  data: { ids, leaving },
});
const mark = { userId: 'ann', commandId: 'c2', now };
const settled = { userId: 'ann', isAdmin: false, commandId: null, now };

describe('the list of administrators', () => {
  it('is built once', () => {
    given(administratorLists)
      .when((before) => build(['bob', 'ann'], before))
      .accepts(list(['ann', 'bob']));
    given(administratorLists, list(['ann']))
      .when((before) => build(['ann', 'bob'], before))
      .accepts();
    given(administratorLists)
      .when((before) => recordDeparture(mark, before))
      .refuses('not_built');
    given(administratorLists)
      .when((before) => settle(settled, before))
      .accepts();
  });

  it('lets somebody leave while another stays who is not leaving too', () => {
    given(administratorLists, list(['ann', 'bob']))
      .when((before) => recordDeparture(mark, before))
      .accepts(list(['ann', 'bob'], leaves('ann', 'c2')));
    given(administratorLists, list(['ann']))
      .when((before) => recordDeparture(mark, before))
      .refuses('last_admin');
    given(administratorLists, list(['ann', 'bob'], leaves('bob')))
      .when((before) => recordDeparture(mark, before))
      .refuses('last_admin');
  });

  it('counts again whose mark lapsed', () => {
    const late = { ...mark, now: later };
    const marked = given(administratorLists, list(['ann', 'bob'], leaves('bob'))).when((before) =>
      recordDeparture(late, before),
    );
    marked.accepts(list(['ann', 'bob'], leaves('ann', 'c2', later)));
    expect(remaining(marked.state, 'cid', later)).toEqual(['bob']);
  });

  it('follows what somebody’s own stream says', () => {
    given(administratorLists, list(['ann', 'bob'], leaves('ann'), leaves('bob')))
      .when((before) => settle(settled, before))
      .accepts(list(['bob'], leaves('bob')));
    given(administratorLists, list(['bob']))
      .when((before) => settle({ ...settled, isAdmin: true }, before))
      .accepts(list(['ann', 'bob']));
    given(administratorLists, list(['bob']))
      .when((before) => settle(settled, before))
      .accepts();
  });

  it('takes off the mark of the command that is done, and no other', () => {
    const both = list(['ann', 'bob'], leaves('ann', 'c1'), leaves('ann', 'c2'));
    const stayed = { ...settled, isAdmin: true };
    given(administratorLists, both)
      .when((before) => settle({ ...stayed, commandId: 'c1' }, before))
      .accepts(list(['ann', 'bob'], leaves('ann', 'c2')));
    given(administratorLists, both)
      .when((before) => settle(stayed, before))
      .accepts();
  });
});
