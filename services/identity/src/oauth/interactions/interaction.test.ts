import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../http/limits.ts';
import { type Interaction, waitForMail } from './interaction.ts';

const MINUTE_S = 60;
const DAY_S = 24 * 3_600;
const COOKIES = ['cardea_interaction=uid', 'cardea_resume=uid'];
const PROGRESS = {
  step: 'registered',
  email: 'a@example.com',
  userId: 'u',
  mail: 'verify',
} as const;

type Charges = readonly (readonly [{ readonly name: string }, string, number])[];

/** Runs `waitForMail` for a flow of this size that ends in ten minutes, and returns what was stored and charged. */
async function waited(
  of: { readonly bytes?: number; readonly leftSeconds?: number; readonly userCode?: string },
  isAllowed = true,
) {
  const { bytes = 1_024, leftSeconds = 10 * MINUTE_S, userCode } = of;
  const saved: number[] = [];
  const kept: number[] = [];
  const charged: Charges[] = [];
  const stored = {
    params: { state: 's'.repeat(bytes) },
    exp: Math.floor(Date.now() / 1_000) + leftSeconds,
    save: async (ttl: number) => saved.push(ttl),
  };
  const interaction = { stored, client: { tenantId: 't1' }, userCode } as unknown as Interaction;
  const needs = {
    server: () => ({
      keep: async (_stored: object, seconds: number) => {
        kept.push(seconds);
        return COOKIES;
      },
    }),
    limits: {
      take: async (...charges: Charges) => {
        charged.push(charges);
        return { allowed: isAllowed };
      },
    },
  } as unknown as Parameters<typeof waitForMail>[0];
  const wait = { progress: PROGRESS, purpose: 'verify', ip: '192.0.2.1' } as const;
  const cookies = await waitForMail(needs, interaction, wait);
  return { cookies, saved, kept, charged };
}

describe('a flow that waits for a mail [people-12]', () => {
  it('is kept as long as the link of the mail works, and ten minutes to finish', async () => {
    const { cookies, kept, saved } = await waited({});
    expect([cookies, kept, saved]).toEqual([COOKIES, [DAY_S + 10 * MINUTE_S], []]);
  });

  it('is charged for its bytes and hours to its address and its tenant [bounds-C3]', async () => {
    const [small, large] = [await waited({ bytes: 1_024 }), await waited({ bytes: 8 * 1_024 })];
    const [[byIp, byTenant] = []] = small.charged;
    expect(byIp?.slice(0, 2)).toEqual([LIMITS.keptFlowKibHoursByIp, '192.0.2.1']);
    expect(byTenant?.slice(0, 2)).toEqual([LIMITS.keptFlowKibHoursByTenant, 't1']);
    const points = (of: typeof small) => of.charged[0]?.[0]?.[2] ?? 0;
    // The cost of 1 KiB for one day, plus the rest of the flow.
    expect(points(small)).toBeGreaterThanOrEqual(24);
    expect(points(small)).toBeLessThan(2 * 24);
    expect(points(large)).toBeGreaterThan(8 * 24);
    // A flow whose time was extended before is not charged again.
    const again = await waited({ leftSeconds: DAY_S });
    expect(points(again)).toBeLessThan(3);
  });

  it('is kept as any other where that is too much, or where a device waits [bounds-H2]', async () => {
    const refused = await waited({}, false);
    expect([refused.cookies, refused.kept]).toEqual([[], []]);
    expect(refused.saved[0]).toBeGreaterThan(9 * MINUTE_S);
    expect(refused.saved[0]).toBeLessThanOrEqual(10 * MINUTE_S);
    const device = await waited({ userCode: 'WDJB-MJHT' });
    expect([device.cookies, device.kept, device.charged]).toEqual([[], [], []]);
  });
});
