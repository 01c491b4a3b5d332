/** Step 18: a machine reads what it may, and is refused the rest. */
import { as, type Cast } from './cast.ts';
import { expect } from './player.ts';

export async function machineReadsAudit(cast: Cast): Promise<void> {
  const { player } = cast;
  player.step(
    18,
    'A machine with the scope audit:read reads the audit log and may set up no webhook',
  );
  const body = {
    name: 'Security monitoring',
    type: 'm2m',
    roles: ['admin'],
    machine_scopes: ['audit:read'],
  };
  const headers = as(cast, cast.adminToken);
  const path = '/api/v1/admin/applications';
  const made = await player.call({ method: 'POST', path, headers, body }, 201, [
    ...['client_id', 'client_secret', 'machine_scopes'],
  ]);
  const { client_id, client_secret } = made.body;
  const configuration = { method: 'GET', path: '/.well-known/openid-configuration' };
  const { issuer } = (await player.look(configuration)).body;
  const form = { grant_type: 'client_credentials', resource: `${issuer}/api` };
  const issued = await player.call(
    {
      method: 'POST',
      path: '/oauth2/token',
      body: new URLSearchParams({ ...form, client_id, client_secret }),
    },
    200,
    ['access_token', 'scope'],
  );
  const machine = as(cast, issued.body.access_token);
  const events = { method: 'GET', path: '/api/v1/audit/events?limit=1', headers: machine };
  await player.call(events, 200, ['events.0.type']);
  const hook = { url: cast.hooks.url, events: ['user.created'] };
  const refused = await player.call(
    { method: 'POST', path: '/api/v1/webhooks', headers: machine, body: hook },
    403,
    ['error.code', 'error.details.scope'],
  );
  expect(refused.text.includes('webhooks:write'), 'the missing scope by name', refused.body);
}
