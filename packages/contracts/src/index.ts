export {
  APPROVAL_TTL_SECONDS_MAX,
  approvalCalls,
  type ConsumeApproval,
  type ConsumedApproval,
  type OpenApproval,
  type OpenedApproval,
  SESSION_BOUND_SECONDS_MAX,
} from './calls/approval-calls.ts';
export {
  AGENT_ACCESS_SECONDS_DEFAULT,
  AGENT_ACCESS_SECONDS_MAX,
  AGENT_ACCESS_SECONDS_MIN,
  APPROVALS_NEEDED_MAX,
  type ApproverSet,
  ApproverSetShape,
  type Escalation,
  EscalationShape,
  type NamedApprover,
  printApprover,
  printApproverSet,
  RelationApprover,
  RoleApprover,
  readApproverSet,
  SET_TEXT_MAX_CHARS,
  UserApprover,
} from './calls/approver-set.ts';
export {
  authzCalls,
  HOLDERS_MAX,
  type HolderCheck,
} from './calls/authz-calls.ts';
export {
  type CurrentFacts,
  type FactsRequest,
  identityCalls,
  type Person,
  type UsersRequest,
} from './calls/identity-calls.ts';
export type { AnswerOf, Ask, InternalCall, RequestOf } from './calls/internal-call.ts';
export { EVENT_CATALOGUE, kindOf } from './catalogue.ts';
export { contextSchema } from './context.ts';
export { BOOTSTRAP_TENANT_ID, DEPLOYMENT_TENANT } from './deployment.ts';
export type {
  ActorType,
  EventContext,
  IntegrationEvent,
  Json,
  JsonObject,
  ServiceName,
} from './envelope.ts';
export { SERVICE_NAMES, TOPIC_PARTITIONS, topicOf } from './envelope.ts';
export { ERROR_DETAILS, FAULTS_BY_CODE } from './error-details.ts';
export { COMMON_ERRORS, type CommonErrorCode } from './errors.ts';
export { actionDenied } from './events/action-denied.ts';
export { approvalEvents } from './events/approval.ts';
export { auditEvents } from './events/audit.ts';
export { authzEvents } from './events/authz.ts';
export type { IdentityEventData, IdentityEventType } from './events/identity.ts';
export { identityEvents } from './events/identity.ts';
export { serviceGrant } from './events/identity-agents-and-keys.ts';
export type { MailPurpose, UserCreatedVia, UserStatus } from './events/identity-users.ts';
export {
  loginSession,
  MAIL_PURPOSES,
  USER_CREATED_VIA,
  USER_STATUSES,
  userSnapshot,
} from './events/identity-users.ts';
export { LISTENS_TO } from './events/topic-readers.ts';
export { vaultEvents } from './events/vault.ts';
export {
  type WebhookEvent,
  type WebhookPayload,
  webhookPayloads,
} from './events/webhook-payloads.ts';
export { webhooksEvents } from './events/webhooks.ts';
export { nullable, PERSONAL_DATA, type PersonalData } from './fields.ts';
export { instantOf } from './instant.ts';
export type {
  ConcernsOf,
  DataOf,
  EventDeclarations,
  IntegrationEventKind,
  IntegrationEvents,
} from './integration-event.ts';
export { integrationEvents } from './integration-event.ts';
export { MACHINE_SCOPES, type MachineScope } from './machine-scopes.ts';
export {
  type Cursor,
  type CursorPage,
  cursorQuery,
  nextCursor,
  pageOfCursor,
  printCursor,
  readCursor,
} from './paging/cursor.ts';
export {
  documented,
  ErrorBody,
  exactText,
  NullableTime,
  named,
  PAGE_OFFSET_MAX,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  pageAnswer,
  pageQuery,
  Time,
} from './rest.ts';
