/** Requests to the endpoints of applications and resource servers. */
import { randomBytes } from 'node:crypto';
import type { Fortress } from '../fortress.ts';
import type { Sample, Samples } from '../sample.ts';
import { expectStatus } from '../users.ts';

const byAdmin = (ask: Sample['ask'] = () => ({})): Sample => ({ by: 'admin', ask });

const APPLICATIONS = '/api/v1/admin/applications';
const RESOURCE_SERVERS = '/api/v1/admin/resource-servers';

async function made(world: Fortress, path: string, body: object): Promise<{ id: string }> {
  const { owner, tenantId: tenant } = world.a;
  const answer = await world.rest.post(path, body, { bearer: owner.access, tenant });
  expectStatus(answer, 201);
  return { id: String(answer.body.id) };
}

const application = (world: Fortress) => made(world, APPLICATIONS, { name: 'Shop', type: 'web' });
const newResourceServer = () => ({
  identifier: `https://${randomBytes(6).toString('hex')}.example.com`,
  name: 'Orders',
});

export const applicationSamples: Samples = {
  list_applications: byAdmin(),
  create_application: byAdmin(() => ({ body: { name: 'Shop', type: 'spa' } })),
  get_application: byAdmin(async (world) => ({ params: await application(world) })),
  update_application: byAdmin(async (world) => ({
    params: await application(world),
    body: { name: 'Store' },
  })),
  delete_application: byAdmin(async (world) => ({ params: await application(world) })),
  rotate_publishable_key: byAdmin(async (world) => ({ params: await application(world) })),
  rotate_client_secret: byAdmin(async (world) => ({ params: await application(world) })),
  list_resource_servers: byAdmin(),
  create_resource_server: byAdmin(() => ({ body: newResourceServer() })),
  delete_resource_server: byAdmin(async (world) => ({
    params: await made(world, RESOURCE_SERVERS, newResourceServer()),
  })),
};
