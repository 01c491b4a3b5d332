export { type Acked, type AckedSet, ackedSet } from './acked-set.ts';
export { type ProcessToStart, type RigProcess, startProcess } from './child-process.ts';
export { ContractBroken } from './contract-check.ts';
export type { EndpointValue } from './endpoint-match.ts';
export { countedIds, numberedId, seededRandom } from './fixed.ts';
export { given } from './given.ts';
export { postgresSetup } from './postgres-setup.ts';
export { type ProcessRig, processRig } from './process-rig.ts';
export { type Call, type RestAnswer, type RestDriver, restDriver } from './rest-driver.ts';
export type { RigTokens } from './rig-tokens.ts';
export { type RigEvent, type RigOptions, type ServiceRig, serviceRig } from './service-rig.ts';
export { silentLogger } from './silent-logger.ts';
export { type TestDatabase, testDatabase } from './test-database.ts';
export { type TestForm, testForm } from './test-form.ts';
export {
  handDown,
  isRequired,
  type MigrateTemplate,
  type PostgresOfRun,
  startPostgresOfRun,
} from './test-postgres.ts';
export { untilTrue } from './until-true.ts';
export { type Received, type SinkAnswer, type WebhookSink, webhookSink } from './webhook-sink.ts';
