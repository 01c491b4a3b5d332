/** The services that the security suites attack: all that exist, together behind one port. */
import { auditService } from '@cardea/audit-projector';
import { authzService } from '@cardea/authz';
import { identityService } from '@cardea/identity';
import type { ServiceDefinition } from '@cardea/service';

export const services: readonly ServiceDefinition[] = [identityService, authzService, auditService];
