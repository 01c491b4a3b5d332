/** What vault may call: open a request for a vend, read it, consume its approval once. */
import type { Module } from '@cardea/service';
import { approvalRpc, type VaultRequestsDependencies } from './approval-rpc.ts';

export const vaultRequestsModule = (needs: VaultRequestsDependencies): Module => ({
  offers: { approval: approvalRpc(needs) },
});
