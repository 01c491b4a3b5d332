/** Every endpoint of the running product with its sample; one without a sample fails the suite. */
import type { Endpoint } from '@cardea/http';
import type { Fortress } from './fortress.ts';
import type { Sample, Samples } from './sample.ts';
import { machineSamples } from './samples/agents-and-keys.ts';
import { applicationSamples } from './samples/applications.ts';
import { approvalSamples } from './samples/approval.ts';
import { auditSamples } from './samples/audit.ts';
import { authzSamples } from './samples/authz.ts';
import { identitySamples } from './samples/identity.ts';
import { pageSamples } from './samples/pages.ts';
import { vaultSamples } from './samples/vault.ts';
import { webhookSamples } from './samples/webhooks.ts';

const samples: Samples = {
  ...identitySamples,
  ...applicationSamples,
  ...authzSamples,
  ...auditSamples,
  ...machineSamples,
  ...approvalSamples,
  ...pageSamples,
  ...vaultSamples,
  ...webhookSamples,
};

export type Entry = { readonly endpoint: Endpoint; readonly sample: Sample };

export function catalogueOf({ host }: Pick<Fortress, 'host'>): readonly Entry[] {
  const missing = host.endpoints.filter(({ contract }) => samples[contract.name] === undefined);
  if (missing.length > 0) {
    throw new Error(`no sample for ${missing.map(({ contract }) => contract.name).join(', ')}`);
  }
  return host.endpoints.map((endpoint) => ({
    endpoint,
    sample: samples[endpoint.contract.name] as Sample,
  }));
}

/** The status of a success. */
export const successOf = ({ endpoint: { contract }, sample }: Entry): number =>
  sample.status ?? contract.response?.status ?? 200;
