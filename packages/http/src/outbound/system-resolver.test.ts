import { fakeClock } from '@cardea/runtime';
import { describe, expect, it } from 'vitest';
import { type NameResolver, ownResolver } from './guarded-connector.ts';
import { systemResolver } from './system-resolver.ts';

const WAIT_MS = 3_000;
const ANSWER_MS = 2_000;

function fixture() {
  const clock = fakeClock('2030-01-01T00:00:00Z');
  const asked: string[] = [];
  const slow = Promise.withResolvers<readonly string[]>();
  const resolve = systemResolver(async (name) => {
    asked.push(name);
    if (name.startsWith('slow')) return await slow.promise;
    if (name === 'nobody') throw new Error('ENOTFOUND');
    return ['10.0.0.7'];
  }, clock);
  return { clock, asked, slow, resolve };
}

describe('names of the operator’s own network', () => {
  it('are asked of the system once in two seconds', async () => {
    const { resolve, asked, clock } = fixture();
    expect(await Promise.all([resolve('receiver'), resolve('receiver')])).toEqual([
      ['10.0.0.7'],
      ['10.0.0.7'],
    ]);
    expect(await resolve('receiver')).toEqual(['10.0.0.7']);
    expect(asked).toEqual(['receiver']);
    await clock.advance(ANSWER_MS);
    await resolve('receiver');
    expect(asked).toHaveLength(2);
  });

  it('never occupy more than two threads, and names that wait too long have no address', async () => {
    const { resolve, asked, clock, slow } = fixture();
    const hanging = Array.from({ length: 10 }, (_, at) => resolve(`slow-${at}`));
    const ended = Promise.allSettled(hanging);
    const late = expect(resolve('receiver')).rejects.toMatchObject({ fault: 'dns_error' });
    await clock.advance(WAIT_MS);
    await late;
    expect(asked).toEqual(['slow-0', 'slow-1']);
    slow.resolve(['10.0.0.8']);
    await ended;
    expect(await resolve('receiver')).toEqual(['10.0.0.7']);
  });

  it('have no address where the system knows none', async () => {
    await expect(fixture().resolve('nobody')).rejects.toMatchObject({ fault: 'dns_error' });
  });

  it('are names that the name server does not know, and none whose look-up failed', async () => {
    const asked: string[] = [];
    const system: NameResolver = async (name) => {
      asked.push(name);
      return ['10.0.0.7'];
    };
    const refusing = (code: string) => {
      const refuse = () => Promise.reject(Object.assign(new Error(code), { code }));
      return { resolve4: refuse, resolve6: refuse } as never;
    };
    expect(await ownResolver(system, refusing('ENOTFOUND'))('receiver')).toEqual(['10.0.0.7']);
    await expect(ownResolver(system, refusing('ETIMEOUT'))('slow')).rejects.toThrow();
    await expect(ownResolver(undefined, refusing('ENOTFOUND'))('receiver')).rejects.toThrow();
    expect(asked).toEqual(['receiver']);
  });
});
