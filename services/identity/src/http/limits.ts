/**
 * Rate limits of identity, except those of passwords, which are in `verify-password.ts` (`docs/design/identity.md`,
 * Limits).
 */
import type { RateLimit } from '@cardea/service';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const limitPer =
  (per: RateLimit['per'], counts: RateLimit['counts']) =>
  (name: string, points: number, windowMs: number): RateLimit => ({
    name,
    points,
    windowMs,
    per,
    counts,
  });
const perAddress = limitPer('address', 'calls');
const perTenant = limitPer('tenant', 'calls');
const plain = limitPer('other', 'calls');
const missesPerAddress = limitPer('address', 'misses');
const missesPerTenant = limitPer('tenant', 'misses');
const misses = limitPer('other', 'misses');

export const LIMITS = {
  registrationsByIp: perAddress('register_ip', 20, HOUR_MS),
  registrationsByTenant: perTenant('register_tenant', 1_000, HOUR_MS),
  registrationCodes: misses('registration_code', 10, 24 * HOUR_MS),
  mailByAddressShort: plain('mail_address_minute', 3, MINUTE_MS),
  mailByAddressLong: plain('mail_address_hour', 10, HOUR_MS),
  mailByStrangers: plain('mail_strangers_hour', 30, HOUR_MS),
  emailChangesByUser: plain('email_change_user', 5, 24 * HOUR_MS),
  accountExportsByUser: plain('account_export_user', 5, 24 * HOUR_MS),
  emailChangeCodes: misses('email_change_code', 10, 24 * HOUR_MS),
  unprovenNoticesByUser: plain('unproven_notices', 5, 24 * HOUR_MS),
  newDeviceMailByUser: plain('new_device_mail', 5, 24 * HOUR_MS),
  mailByIp: perAddress('mail_ip', 30, HOUR_MS),
  secretFailuresByIp: missesPerAddress('secret_ip', 30, 10 * MINUTE_MS),
  codeFailuresByIp: missesPerAddress('code_ip', 20, 10 * MINUTE_MS),
  enrolmentFailuresByUser: misses('enrolment_user', 20, 10 * MINUTE_MS),
  passkeyChallengesByIp: perAddress('passkey_challenge_ip', 300, MINUTE_MS),
  secondFactorChallenges: plain('second_factor_challenge', 20, 10 * MINUTE_MS),
  socialSignInsByIp: perAddress('social_ip', 300, MINUTE_MS),
  unboundCodesByPrefix: misses('unbound_code_prefix', 500, 10 * MINUTE_MS),
  unboundCodesByTenant: missesPerTenant('unbound_code_tenant', 30_000, 10 * MINUTE_MS),
  refreshBySession: plain('refresh_sid', 300, MINUTE_MS),
  refreshFailuresByIp: missesPerAddress('refresh_ip', 60, MINUTE_MS),
  identifyByIp: perAddress('identify_ip', 300, MINUTE_MS),
  authorizeByIp: perAddress('authorize_ip', 120, MINUTE_MS),
  formsByIp: perAddress('authorize_form_ip', 120, MINUTE_MS),
  tokenFailuresByIp: missesPerAddress('oauth_token_ip', 60, MINUTE_MS),
  tokensByName: plain('oauth_token_name', 600, MINUTE_MS),
  tokensByClient: plain('oauth_token_client', 600, MINUTE_MS),
  parByName: plain('par_name', 120, MINUTE_MS),
  parByClient: plain('par_client', 120, MINUTE_MS),
  deviceByName: plain('device_name', 120, MINUTE_MS),
  deviceByClient: plain('device_client', 120, MINUTE_MS),
  userCodeFailuresByIp: missesPerAddress('user_code_ip', 20, 10 * MINUTE_MS),
  // Counted in KiB. Stored authorization requests live about this long.
  artifactKibByIp: perAddress('artifact_kib_ip', 8 * 1024, 10 * MINUTE_MS),
  artifactKibByTenant: perTenant('artifact_kib_tenant', 128 * 1024, 10 * MINUTE_MS),
  // Counted in KiB-hours, because flows that wait for a mail are kept for up to a day. Above the limit a page is kept
  // for ten minutes.
  keptFlowKibHoursByIp: perAddress('kept_flow_kib_hours_ip', 24 * 2 * 1024, 24 * HOUR_MS),
  keptFlowKibHoursByTenant: perTenant('kept_flow_kib_hours_tenant', 24 * 32 * 1024, 24 * HOUR_MS),
  clientDocumentsByIp: perAddress('client_document_ip', 30, HOUR_MS),
  clientFailuresRecorded: plain('client_failure_record', 60, MINUTE_MS),
  introspectionsByIp: perAddress('introspect_ip', 6_000, MINUTE_MS),
  inactiveIntrospectionsByIp: missesPerAddress('introspect_inactive_ip', 300, MINUTE_MS),
  introspectionsByCaller: plain('introspect_caller', 600, 1_000),
  agentSessionsByAgent: plain('agent_sessions', 120, MINUTE_MS),
} as const;
