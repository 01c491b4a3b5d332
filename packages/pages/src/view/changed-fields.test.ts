import { describe, expect, it } from 'vitest';
import { changedFields, conflicts } from './changed-fields.ts';

const NAME = { name: 'name' };
const NOTE = { name: 'note' };

describe('a form that changes something', () => {
  it('sends the fields that differ from what was shown', () => {
    const typed = { name: 'Ada', 'was.name': 'Ada ', note: 'b', 'was.note': 'a' };
    expect(changedFields([NAME, NOTE], typed)).toEqual([NOTE]);
  });

  it('takes the lines of a browser for those of the page', () => {
    const typed = { note: 'a\r\nb', 'was.note': 'a\nb' };
    expect(changedFields([NOTE], typed)).toEqual([]);
  });

  it('names what somebody else has made of the same field', () => {
    const typed = { name: 'mine', 'was.name': 'old' };
    expect(conflicts([NAME], typed, { name: 'theirs' })).toEqual({ name: 'theirs' });
    expect(conflicts([NAME], typed, { name: null })).toEqual({ name: '' });
    expect(conflicts([NAME], typed, { name: 'old' })).toEqual({});
    // Both changed the field to the same value.
    expect(conflicts([NAME], typed, { name: 'mine' })).toEqual({});
  });

  it('compares a time to the minute, as it was shown', () => {
    const until = { name: 'until', kind: 'time' } as const;
    const typed = { until: '2026-12-24T18:30', 'was.until': '2026-12-24T18:00' };
    expect(conflicts([until], typed, { until: '2026-12-24T18:00:00.000Z' })).toEqual({});
    const theirs = { until: '2026-12-31T18:00' };
    expect(conflicts([until], typed, { until: '2026-12-31T18:00:00.000Z' })).toEqual(theirs);
  });
});
