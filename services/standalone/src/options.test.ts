import { describe, expect, it } from 'vitest';
import { readOptions } from './options.ts';

describe('the flags of npm start', () => {
  it('are read with a space or an equals sign', () => {
    const read = { data: '/tmp/x', temp: false, port: 9000, shareDevMailbox: false, help: false };
    expect(readOptions(['--data', '/tmp/x', '--port=9000'])).toEqual(read);
    const shared = { ...read, shareDevMailbox: true };
    expect(readOptions(['--share-dev-mailbox', '--data=/tmp/x', '--port', '9000'])).toEqual(shared);
  });

  it.each([
    [['--port', '0']],
    [['--port']],
    [['--data']],
    [['--temp', '--data', 'x']],
    [['--colour']],
    [['start']],
  ])('are refused in %j', (args) => {
    expect(readOptions(args)).toHaveProperty('wrong');
  });
});
