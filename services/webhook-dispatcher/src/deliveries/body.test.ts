import { describe, expect, it } from 'vitest';
import { bodyOf, dataOf } from './body.ts';

const at = new Date('2030-01-01T00:00:00.000Z');

describe('the body of a delivery', () => {
  it('has event, timestamp and data in this order, without spaces', () => {
    expect(bodyOf('user.deleted', at, '{"id":"u"}')).toBe(
      '{"event":"user.deleted","timestamp":"2030-01-01T00:00:00.000Z","data":{"id":"u"}}',
    );
  });

  it('webhooks 8 gives its data back byte by byte, whatever stands in it', () => {
    const data = JSON.stringify({ text: '","data":{"x":1}} Zoë \u2028', data: { data: [1e21] } });
    expect(dataOf(bodyOf('user.created', at, data))).toBe(data);
  });
});
