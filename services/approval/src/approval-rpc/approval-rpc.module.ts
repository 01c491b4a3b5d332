/** The calls that vault may make: it opens a request for a vend, reads it, and consumes its approval once. */
import type { Module } from '@cardea/service';
import { type ApprovalRpcDependencies, approvalRpc } from './approval-rpc.ts';

export const approvalRpcModule = (needs: ApprovalRpcDependencies): Module => ({
  offers: { approval: approvalRpc(needs) },
});
