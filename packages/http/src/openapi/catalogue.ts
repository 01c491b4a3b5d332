/** All endpoints as a list: for tests, the gateway and the OpenAPI document. */
import { applicationScopeOf, machineScopeOf, stepUpOf, USER_CALLERS } from '../contract/caller.ts';
import { type Contract, isInternal } from '../contract/contract.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { inOrder } from '../contract/route-order.ts';
import {
  inEndpointCodes,
  PIPELINE_STATUS,
  type PipelineCode,
  refusalOf,
} from '../refusals/refusal.ts';

export type CatalogueEntry = {
  readonly contract: Contract;
  /** For example `POST /api/v1/webhooks/{id}/test`. */
  readonly title: string;
  /** Every error code that this endpoint may return, including those of the request pipeline, by status. */
  readonly codes: { readonly [status: string]: readonly string[] };
};

/** Lists endpoints in routing order, without internal ones. */
export const catalogue = (endpoints: readonly Endpoint[]): readonly CatalogueEntry[] =>
  inOrder(endpoints)
    .map(({ contract }) => contract)
    .filter((contract) => !isInternal(contract))
    .map((contract) => ({
      contract,
      title: `${contract.method.toUpperCase()} ${contract.path}`,
      codes: codesOf(contract),
    }));

function codesOf(contract: Contract): { readonly [status: string]: readonly string[] } {
  const codes = new Map<string, Set<string>>();
  const add = (status: number, code: string) => {
    const known = codes.get(String(status)) ?? new Set();
    codes.set(String(status), known.add(code));
  };
  for (const code of doorCodesOf(contract)) {
    add(PIPELINE_STATUS[code], inEndpointCodes(refusalOf(code), contract).code);
  }
  for (const other of Object.values(contract.notTaken ?? {})) {
    if (other !== undefined) {
      add(other.status, inEndpointCodes({ ...other, message: '' }, contract).code);
    }
  }
  for (const [code, status] of Object.entries(contract.refusals)) add(status, code);
  // An id with bytes that no address can contain is refused with 404 before the endpoint is found.
  if (contract.params !== undefined) add(PIPELINE_STATUS.not_found, 'not_found');
  const sorted = [...codes].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([status, names]) => [status, [...names].sort()]));
}

function doorCodesOf(contract: Contract): readonly PipelineCode[] {
  const { who, tenant, method, consistency } = contract;
  const codes: PipelineCode[] = ['invalid_request', 'invalid_consistency_token', 'internal_error'];
  codes.push('overloaded', 'temporarily_unavailable');
  if (who !== 'anyone') {
    codes.push('unauthenticated', 'tenant_mismatch', 'forbidden', 'rate_limited');
  }
  if (who !== 'anyone' || tenant !== 'none') codes.push('tenant_required');
  // An API key or a machine without its scope, or an application that may not act as its user's account.
  const takesKeys = who !== 'anyone' && who.some((caller) => caller.startsWith('api_key:'));
  const takesUsers = who !== 'anyone' && who.some((caller) => USER_CALLERS.includes(caller));
  const takesMachines = machineScopeOf(contract) !== undefined;
  if (takesKeys || takesMachines || (takesUsers && applicationScopeOf(contract) !== 'any')) {
    codes.push('insufficient_scope');
  }
  if (stepUpOf(contract) !== 'none') codes.push('step_up_required');
  if (method !== 'get') {
    codes.push('write_contention', 'body_too_large', 'unsupported_media_type', 'request_timeout');
  }
  if (consistency?.reads !== undefined) codes.push('not_caught_up');
  return codes;
}
