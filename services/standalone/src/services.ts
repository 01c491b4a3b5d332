/** The services that make up the product. */
import { approvalService } from '@cardea/approval';
import { auditService } from '@cardea/audit-projector';
import { authzService } from '@cardea/authz';
import { identityService } from '@cardea/identity';
import type { ServiceDefinition } from '@cardea/service';
import { vaultService } from '@cardea/vault';
import { webhooksService } from '@cardea/webhook-dispatcher';

/** Identity first: it creates the keys that all others verify tokens with. */
export const services: readonly ServiceDefinition[] = [
  identityService,
  authzService,
  approvalService,
  vaultService,
  webhooksService,
  auditService,
];
