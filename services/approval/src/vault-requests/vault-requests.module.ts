/** What vault may ask of this service: to open a request for a vend, to read it, to use its approval once. */
import type { Module } from '@cardea/service';
import { approvalRpc, type VaultRequestsDependencies } from './approval-rpc.ts';

export const vaultRequestsModule = (needs: VaultRequestsDependencies): Module => ({
  offers: { approval: approvalRpc(needs) },
});
