export { actionDenied } from './action-denied.ts';
export { approvalEvents } from './approval.ts';
export {
  APPROVAL_TTL_SECONDS_MAX,
  approvalCalls,
  type ConsumeApproval,
  type ConsumedApproval,
  type OpenApproval,
  type OpenedApproval,
} from './approval-calls.ts';
export { auditEvents } from './audit.ts';
export { authzEvents } from './authz.ts';
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
export { ERROR_DETAILS } from './error-details.ts';
export { COMMON_ERRORS, type CommonErrorCode } from './errors.ts';
export { nullable, PERSONAL_DATA, type PersonalData } from './fields.ts';
export type { IdentityEventData, IdentityEventType } from './identity.ts';
export { IDENTITY_AUDIT_ONLY, identityEvents } from './identity.ts';
export { serviceGrant } from './identity-agents-and-keys.ts';
export { type CurrentFacts, type FactsRequest, identityCalls } from './identity-calls.ts';
export type { MailPurpose, UserCreatedVia, UserStatus } from './identity-users.ts';
export {
  loginSession,
  MAIL_PURPOSES,
  USER_CREATED_VIA,
  USER_STATUSES,
  userSnapshot,
} from './identity-users.ts';
export { instantOf } from './instant.ts';
export type {
  DataOf,
  EventDeclarations,
  IntegrationEventKind,
  IntegrationEvents,
} from './integration-event.ts';
export { integrationEvents } from './integration-event.ts';
export type { AnswerOf, Ask, InternalCall, RequestOf } from './internal-call.ts';
export {
  documented,
  ErrorBody,
  NullableTime,
  named,
  PAGE_OFFSET_MAX,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  pageAnswer,
  pageQuery,
  Time,
} from './rest.ts';
export { LISTENS_TO } from './topic-readers.ts';
export { vaultEvents } from './vault.ts';
export { type WebhookEvent, type WebhookPayload, webhookPayloads } from './webhook-payloads.ts';
export { webhooksEvents } from './webhooks.ts';
