/** Steps 6 and 7: relationship tuples decide, and a key is limited to its scopes. */
import { as, type Cast } from './cast.ts';
import { expect } from './player.ts';

export async function relationsDecide(cast: Cast): Promise<void> {
  const { player } = cast;
  player.step(6, 'A relationship tuple opens a document, and its deletion closes it at once');
  const headers = as(cast, cast.adminToken);
  const tuple = {
    user_type: 'user',
    user_id: cast.userId,
    relation: 'editor',
    object_type: 'document',
    object_id: 'roadmap',
  };
  const asked = { ...tuple, relation: 'viewer' };
  const fga = (method: string, what: string, body: unknown) => ({
    method,
    path: `/api/v1/fga/${what}`,
    headers,
    body,
  });
  await player.call(fga('POST', 'tuples', tuple), 201, ['id', 'relation']);
  const check = await player.call(fga('POST', 'check', asked), 200, ['allowed', 'reason']);
  expect(check.body.allowed === true, 'allowed: an editor views', check.body);
  const { object_id: _one, ...anyDocument } = asked;
  const filter = await player.call(
    fga('POST', 'filter', { ...anyDocument, object_ids: ['roadmap', 'payroll'] }),
    200,
    ['allowed_ids', 'allowed', 'denied'],
  );
  const list = await player.call(fga('POST', 'list-objects', anyDocument), 200, ['object_ids']);
  expect(
    filter.body.allowed_ids.join() === 'roadmap' && list.body.object_ids.join() === 'roadmap',
    'filter and list-objects to agree with check',
    [filter.body, list.body],
  );
  await player.call(fga('DELETE', 'tuples', tuple), 200, ['status']);
  const after = await player.call(fga('POST', 'check', asked), 200, ['allowed']);
  expect(after.body.allowed === false, 'denied at once', after.body);
  cast.expectedAudit.add('admin.fga.write_tuple').add('admin.fga.delete_tuple');
}

export async function keyHasScopes(cast: Cast): Promise<void> {
  const { player } = cast;
  player.step(7, 'An API key with scope fga:read may check and may not write');
  const made = await player.call(
    {
      method: 'POST',
      path: '/api/v1/api-keys',
      headers: as(cast, cast.adminToken),
      body: { name: 'reader', scopes: ['fga:read'] },
    },
    201,
    ['prefix', 'scopes', 'key'],
  );
  const tuple = {
    user_type: 'user',
    user_id: cast.userId,
    relation: 'viewer',
    object_type: 'document',
    object_id: 'roadmap',
  };
  const headers = as(cast, made.body.key);
  await player.call({ method: 'POST', path: '/api/v1/fga/check', headers, body: tuple }, 200, [
    'allowed',
  ]);
  const refused = await player.call(
    { method: 'POST', path: '/api/v1/fga/tuples', headers, body: tuple },
    403,
    ['error.code', 'error.details.scope'],
  );
  expect(refused.text.includes('fga:write'), 'the missing scope by name', refused.body);
  cast.expectedAudit.add('admin.api_key.create');
}
