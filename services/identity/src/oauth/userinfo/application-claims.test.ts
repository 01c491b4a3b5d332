import { describe, expect, it } from 'vitest';
import { somebody } from '../../../test/somebody.ts';
import type { ApplicationClaim } from '../../workspaces/workspaces.module.ts';
import { applicationClaims, CLAIMS_BYTES_MAX, withinBytes } from './application-claims.ts';

const bytesOf = (claims: object) => Buffer.byteLength(JSON.stringify(claims));
const filled = (name: string, bytes: number) =>
  [name, 'x'.repeat(Math.max(0, bytes - name.length - 6))] as const;

describe('standards 8 the claims of an application within 2 KiB', () => {
  it('are whole where they fit, to the byte', () => {
    const whole = [filled('a', 1_000), filled('b', CLAIMS_BYTES_MAX - 1_002)];
    expect(withinBytes(whole)).toEqual(Object.fromEntries(whole));
    const more = [filled('a', 1_000), filled('b', CLAIMS_BYTES_MAX - 1_001)];
    expect(withinBytes(more)).toEqual({ a: more[0]?.[1], b_overage: true });
  });

  it('are replaced by a mark each, in their order, and a large one does not push out small ones', () => {
    const large = [filled('large', 2_040), ['small', 1] as const, ['other', 'two'] as const];
    expect(withinBytes(large)).toEqual({ large_overage: true, small: 1, other: 'two' });
    const halves = [filled('first', 1_100), filled('second', 1_100), ['third', 3] as const];
    expect(Object.keys(withinBytes(halves))).toEqual(['first', 'second_overage', 'third']);
  });

  it('never take more, whatever they are', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    for (let round = 0; round < 500; round += 1) {
      const entries = Array.from({ length: 1 + random(20) }, (_, at) => {
        const name = `${at}${'n'.repeat(random(62))}`;
        return [name, 'ü"'.repeat(random(random(4) === 0 ? 900 : 40))] as const;
      });
      const claims = withinBytes(entries);
      expect(bytesOf(claims)).toBeLessThanOrEqual(CLAIMS_BYTES_MAX);
      expect(Object.keys(claims)).toHaveLength(entries.length);
    }
  });
});

const claim = (name: string, from: string, more: Partial<ApplicationClaim> = {}) => ({
  name,
  from,
  scope: 'profile',
  in: ['id_token'] as const,
  ...more,
});

describe('standards 8 a claim of an application', () => {
  const opened: string[] = [];
  const claimsOf = applicationClaims({
    userDirectory: {
      localeOf: async () => null,
      metadataOf: async () => {
        opened.push('metadata');
        return {
          public_metadata: { plan: { tier: 'gold', none: null }, list: ['a'], toString: 'own' },
          private_metadata: { crm: 42 },
        };
      },
    },
    workspaces: { tenant: async () => undefined },
  });
  const given = (claims: readonly ApplicationClaim[], more: object = {}) =>
    claimsOf({
      use: 'id_token',
      user: somebody,
      client: { tenantId: 't', application: { claims, first_party: true } },
      consent: { claims: [] },
      scopes: ['openid', 'profile'],
      ...more,
    });

  it('is found by its path, and left out where nothing stands there', async () => {
    const claims = [
      claim('tier', 'public_metadata.plan.tier'),
      claim('plan', 'public_metadata.plan'),
      claim('crm', 'private_metadata.crm'),
      claim('text', 'public_metadata.toString'),
      claim('a', 'public_metadata.missing'),
      claim('b', 'public_metadata.plan.none'),
      claim('c', 'public_metadata.list.0'),
      claim('d', 'public_metadata.plan.tier.length'),
      claim('e', 'private_metadata.hasOwnProperty'),
      claim('f', 'locale'),
      claim('g', 'tenant.slug'),
      claim('h', 'roles'),
    ];
    expect(await given(claims)).toEqual({
      tier: 'gold',
      plan: { tier: 'gold', none: null },
      crm: 42,
      text: 'own',
      h: ['member'],
    });
  });

  it('goes with its scope, to where it is meant to stand, and opens no metadata elsewhere', async () => {
    opened.length = 0;
    const one = [claim('crm', 'private_metadata.crm')];
    expect(await given(one, { scopes: ['openid'] })).toEqual({});
    expect(await given(one, { use: 'userinfo' })).toEqual({});
    expect(await given([claim('it', 'roles')])).toEqual({ it: ['member'] });
    expect(opened).toEqual([]);
  });

  it('of a third party is one that its user was shown, by name and by what it is made from', async () => {
    const one = [claim('crm', 'private_metadata.crm')];
    const client = { tenantId: 't', application: { claims: one, first_party: false } };
    const shown = async (...claims: object[]) => given(one, { client, consent: { claims } });
    expect(await shown()).toEqual({});
    expect(await shown({ name: 'crm', from: 'public_metadata.crm' })).toEqual({});
    expect(await shown({ name: 'id', from: 'private_metadata.crm' })).toEqual({});
    expect(await shown({ name: 'crm', from: 'private_metadata.crm' })).toEqual({ crm: 42 });
  });
});
