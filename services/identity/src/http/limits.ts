/** Rate limits of identity, but for those of passwords, which are in `verify-password.ts` (`docs/design/identity.md`, Limits). */
import type { RateLimit } from '@cardea/service';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const limitPer =
  (per: RateLimit['per']) =>
  (name: string, points: number, windowMs: number): RateLimit => ({ name, points, windowMs, per });
const perAddress = limitPer('address');
const perTenant = limitPer('tenant');
const plain = limitPer('other');

export const LIMITS = {
  registrationsByIp: perAddress('register_ip', 20, HOUR_MS),
  registrationsByTenant: perTenant('register_tenant', 1_000, HOUR_MS),
  mailByAddressShort: plain('mail_address_minute', 3, MINUTE_MS),
  mailByAddressLong: plain('mail_address_hour', 10, HOUR_MS),
  newDeviceMailByUser: plain('new_device_mail', 5, 24 * HOUR_MS),
  mailByIp: perAddress('mail_ip', 30, HOUR_MS),
  secretFailuresByIp: perAddress('secret_ip', 30, 10 * MINUTE_MS),
  codeFailuresByIp: perAddress('code_ip', 20, 10 * MINUTE_MS),
  secondFactorFailuresByUser: plain('second_factor_user', 20, 10 * MINUTE_MS),
  passkeyChallengesByIp: perAddress('passkey_challenge_ip', 300, MINUTE_MS),
  secondFactorChallenges: plain('second_factor_challenge', 20, 10 * MINUTE_MS),
  socialSignInsByIp: perAddress('social_ip', 300, MINUTE_MS),
  unboundCodesByPrefix: plain('unbound_code_prefix', 5, 10 * MINUTE_MS),
  unboundCodesByTenant: plain('unbound_code_tenant', 300, 10 * MINUTE_MS),
  refreshBySession: plain('refresh_sid', 300, MINUTE_MS),
  refreshFailuresByIp: perAddress('refresh_ip', 60, MINUTE_MS),
  identifyByIp: perAddress('identify_ip', 300, MINUTE_MS),
  authorizeByIp: perAddress('authorize_ip', 120, MINUTE_MS),
  tokenFailuresByIp: perAddress('oauth_token_ip', 60, MINUTE_MS),
  tokensByClient: plain('oauth_token_client', 600, MINUTE_MS),
  parByClient: plain('par_client', 120, MINUTE_MS),
  clientDocumentsByIp: perAddress('client_document_ip', 30, HOUR_MS),
  clientFailuresRecorded: plain('client_failure_record', 60, MINUTE_MS),
  introspectionsByIp: perAddress('introspect_ip', 6_000, MINUTE_MS),
  inactiveIntrospectionsByIp: perAddress('introspect_inactive_ip', 300, MINUTE_MS),
  introspectionsByCaller: plain('introspect_caller', 600, 1_000),
  agentSessionsByAgent: plain('agent_sessions', 120, MINUTE_MS),
} as const;
