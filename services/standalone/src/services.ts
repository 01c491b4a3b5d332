/** The services that make up the product. */
import { approvalService } from '@cardea/approval';
import { auditService } from '@cardea/audit-projector';
import { authzService } from '@cardea/authz';
import { identityService } from '@cardea/identity';
import type { ServiceDefinition } from '@cardea/service';
import { vaultService } from '@cardea/vault';
import { webhooksService } from '@cardea/webhook-dispatcher';

/** Identity comes first, because it creates the keys with which all others verify tokens. */
export const services: readonly ServiceDefinition[] = [
  identityService,
  authzService,
  approvalService,
  vaultService,
  webhooksService,
  auditService,
];
