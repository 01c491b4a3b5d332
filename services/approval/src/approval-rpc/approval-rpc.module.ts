/** What vault may call: open a request for a vend, read it, consume its approval once. */
import type { Module } from '@cardea/service';
import { type ApprovalRpcDependencies, approvalRpc } from './approval-rpc.ts';

export const approvalRpcModule = (needs: ApprovalRpcDependencies): Module => ({
  offers: { approval: approvalRpc(needs) },
});
