/** What people do with their own account beside signing in: another address, an export, the end of it. */
import type { Module } from '@cardea/service';
import { type DeletionDependencies, deletionRoutes } from './deletion/deletion.route.ts';
import {
  type RequestDependencies,
  requestRoutes,
} from './email-change/request-email-change.route.ts';
import { type StopDependencies, stopRoutes } from './email-change/stop-email-change.route.ts';
import { type VerifyDependencies, verifyRoutes } from './email-change/verify-email-change.route.ts';
import { type ExportDependencies, exportAccountRoute } from './export/export-account.route.ts';

type Dependencies = RequestDependencies &
  VerifyDependencies &
  StopDependencies &
  DeletionDependencies &
  ExportDependencies;

export const ownAccountModule = (deps: Dependencies): Module => ({
  endpoints: [
    ...requestRoutes(deps),
    ...verifyRoutes(deps),
    ...stopRoutes(deps),
    ...deletionRoutes(deps),
    exportAccountRoute(deps),
  ],
});
