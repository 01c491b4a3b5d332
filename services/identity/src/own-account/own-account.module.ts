/** Actions of people on their own account besides signing in: change the address, export it, delete it. */
import type { Module } from '@cardea/service';
import { type DeletionDependencies, deletionRoutes } from './deletion/deletion.route.ts';
import {
  type RequestDependencies,
  requestRoutes,
} from './email-change/request-email-change.route.ts';
import { type StopDependencies, stopRoutes } from './email-change/stop-email-change.route.ts';
import {
  type VerifyDependencies,
  verifyMyEmailChangeRoute,
  verifyRoutes,
} from './email-change/verify-email-change.route.ts';
import { type ExportDependencies, exportAccountRoute } from './export/export-account.route.ts';

type Dependencies = RequestDependencies &
  VerifyDependencies &
  StopDependencies &
  DeletionDependencies &
  ExportDependencies;

export function ownAccountModule(deps: Dependencies) {
  /** The endpoints for the pages of a person's own account. */
  const selfService = {
    ...requestRoutes(deps),
    verifyMyEmailChange: verifyMyEmailChangeRoute(deps),
    ...deletionRoutes(deps),
    exportAccount: exportAccountRoute(deps),
  };
  const module: Module = {
    endpoints: [...Object.values(selfService), ...verifyRoutes(deps), ...stopRoutes(deps)],
  };
  return { module, selfService };
}
