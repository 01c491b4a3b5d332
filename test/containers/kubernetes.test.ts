/** Tests the manifests with a real API server, which checks and defaults every field, and stores nothing. */
import { afterAll, beforeEach, expect, it } from 'vitest';
import { type ApiServer, isBuilt, startApiServer } from '../../scripts/containers/kubernetes.ts';
import { readManifests } from '../deploy/rules/manifests.ts';

const BASE = 'deploy/k8s/base';
const EXAMPLE = 'deploy/k8s/overlays/example';
const APPLY = ['apply', '--dry-run=server', '--validate=strict', '--output=name'];

let server: ApiServer | undefined;
const its = async (): Promise<ApiServer> => {
  server ??= await startApiServer();
  return server;
};
beforeEach((context) => {
  if (!isBuilt()) context.skip('no API server: npm run test:containers -- --build-api-server');
});
afterAll(async () => {
  await server?.stop();
});

it('are accepted as they are', async () => {
  const { kubectl } = await its();
  const lines = (await kubectl(...APPLY, '-k', BASE)).split('\n');
  const kinds = readManifests(BASE).documents.map(({ kind }) => kind.toLowerCase());
  // The additional line is for the settings, which kustomize generates.
  expect(lines).toHaveLength(kinds.length + 1);
  expect(lines.filter((line) => line.startsWith('deployment.apps/'))).toHaveLength(7);
});

it('are accepted as the example lays itself over them', async () => {
  const { kubectl } = await its();
  await kubectl('create', 'namespace', 'cardea');
  const lines = (await kubectl(...APPLY, '-k', EXAMPLE)).split('\n');
  expect(lines).toContain('namespace/cardea');
  expect(lines.some((line) => line.startsWith('ingress.networking.k8s.io/'))).toBe(true);
});

it('would be refused with a value that cannot be', async () => {
  const { kubectl } = await its();
  const broken = [
    'create',
    'deployment',
    'broken',
    '--image=x',
    '--dry-run=server',
    '--replicas=-1',
  ];
  await expect(kubectl(...broken)).rejects.toThrow('must be greater than or equal to 0');
});
