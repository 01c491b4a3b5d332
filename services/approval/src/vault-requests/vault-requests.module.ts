/** What vault may ask of this service: to open a request for a vend, to read it, to use its approval once. */
import type { Module } from '@cardea/service';
import { forVault, type VaultRequestsDependencies } from './approval-rpc.ts';

export const vaultRequestsModule = (needs: VaultRequestsDependencies): Module => ({
  offers: { approval: forVault(needs) },
});
