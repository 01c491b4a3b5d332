/** Metadata about users, for the search for canaries: set, given to an application as claims, and exported. */
import { expect } from 'vitest';
import {
  application,
  authorized,
  type OAuthParty,
} from '../../services/identity/test/oauth-fixture.ts';
import type { Fortress } from './fortress.ts';
import { expectStatus, PASSWORD } from './users.ts';

const OPEN = 'canary-Rb31-of-public-metadata';
const HIDDEN = 'canary-Lf64-of-private-metadata';

export async function storyOfMetadata(
  world: Fortress,
  { remember }: { readonly remember: (name: string, value: string) => void },
): Promise<void> {
  const { rest, a, baseUrl, issuer } = world;
  const admin = rest.as({ bearer: a.owner.access, tenant: a.tenantId });
  const person = await world.addUser(a.owner, ['member']);
  const path = `/api/v1/admin/users/${person.userId}`;
  const kept = { public_metadata: { note: OPEN }, private_metadata: { note: HIDDEN } };
  expectStatus(await admin.patch(path, kept), 200);
  remember('public metadata', OPEN);
  remember('private metadata', HIDDEN);
  const claims = ['public', 'private'].map((kind) => ({
    ...{ name: `${kind}_note`, from: `${kind}_metadata.note` },
    in: ['id_token', 'userinfo', 'access_token'],
  }));
  const party: OAuthParty = { baseUrl, issuer, as: () => admin };
  const client = await application(party, a.owner, { claims });
  const of = { client, account: person, password: PASSWORD };
  const { access_token: bearer, id_token } = await authorized(party, of);
  const info = await rest.get('/oauth2/userinfo', { bearer });
  expect(info.body).toMatchObject({ public_note: OPEN, private_note: HIDDEN });
  remember('id_token with claims', id_token);
  const exported = await admin.get('/api/v1/admin/users/export?include=password_hash');
  expectStatus(exported, 200);
  for (const [, hash = ''] of exported.text.matchAll(/"password_hash":"([^"]+)"/g)) {
    remember('exported password hash', hash);
  }
  expectStatus(await admin.patch(path, { public_metadata: null, private_metadata: null }), 200);
}
