/** The time must not reveal whether an address has had mail before, so both cases make the same calls to the store. */
import { inMemoryLogs } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { countedStreams, newCommand, TENANT, testSealer } from '../../test/counted-streams.ts';
import { snapshotCache } from '../streams/snapshot-cache.ts';
import { codeRedemption } from './code-redemption.ts';
import { mailOutbox } from './mail-outbox.ts';

const sealer = testSealer();
const codeKeys = { current: Buffer.alloc(32), previous: undefined };

function replica(logs: ReturnType<typeof inMemoryLogs>) {
  const { streams, taken } = countedStreams(logs);
  const of = { streams, sealer, snapshots: snapshotCache(streams) };
  return { mail: mailOutbox(of), codes: codeRedemption({ ...of, codeKeys }), taken };
}

const mail = (emailHash: string) =>
  ({ purpose: 'reset', email: 'a@example.com', emailHash, userId: null }) as const;

describe('S8 an address that has had mail, by this process or another one, costs the same', () => {
  const logs = inMemoryLogs();
  const [here, elsewhere] = [replica(logs), replica(logs)];

  it('to ask for mail', async () => {
    await here.mail.request(mail('known'), newCommand());
    await elsewhere.mail.request(mail('distant'), newCommand());
    here.taken();
    for (const address of ['known', 'distant', 'unknown', 'unknown']) {
      await here.mail.request(mail(address), newCommand());
      expect(here.taken(), address).toEqual(['read mailbox', 'append mailbox']);
    }
  });

  it('to guess a code', async () => {
    const code = { format: 'base32', typed: 'K7QF3MXP' } as const;
    for (const mailbox of ['known', 'distant', 'nobody']) {
      expect(await here.codes.find({ ...code, mailbox }, TENANT)).toBeUndefined();
      expect(
        await here.codes.miss({ purpose: 'otp', mailbox, asker: 'somebody' }, newCommand()),
      ).toBe('invalid');
      expect(here.taken(), mailbox).toEqual(['read onetime', 'read mailbox']);
    }
  });
});
