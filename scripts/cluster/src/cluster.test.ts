import { describe, expect, it } from 'vitest';
import { withoutAccount } from './cluster.ts';
import { readOptions } from './options.ts';

describe('the address of an event store', () => {
  it.each([
    ['esdb://admin:p%40ss@127.0.0.1:2113?tls=false', 'esdb://127.0.0.1:2113?tls=false'],
    ['esdb+discover://admin:pw@one:2113,two:2113', 'esdb+discover://one:2113,two:2113'],
    ['esdb://127.0.0.1:2113?tls=false', 'esdb://127.0.0.1:2113?tls=false'],
    [undefined, null],
  ])('is written down without the account in it: %s', (given, written) => {
    expect(withoutAccount(given)).toBe(written);
  });
});

describe('the flags of npm run cluster', () => {
  it('leave most things to their defaults', () => {
    const read = { data: undefined, temp: false, port: undefined, replicas: 1, eventstore: false };
    expect(readOptions([])).toEqual({ ...read, help: false });
  });

  it('are read with a space or an equals sign', () => {
    const read = readOptions(['--temp', '--port=9000', '--replicas', '2', '--eventstore']);
    expect(read).toMatchObject({ temp: true, port: 9000, replicas: 2, eventstore: true });
  });

  it.each([
    [['--colour']],
    [['--temp', '--data', 'somewhere']],
    [['--eventstore']],
    [['--replicas', '0']],
    [['--replicas', '6']],
    [['--port', 'http']],
    [['--port', '65536']],
    [['--data']],
    [['now']],
  ])('are refused in %j', (args) => {
    expect(readOptions(args)).toHaveProperty('wrong');
  });
});
