/** The meaning of each refusal code, and what the caller can do. */

const NEW_PASSWORD = 'choose another password; `details` names the rule.';
const AGAIN = 'wait as long as `Retry-After` says, then try again.';

const HELP: { readonly [code: string]: string } = {
  APPROVAL_CONSUMED: 'the approval was used already; vend without it to request a new one.',
  APPROVAL_DENIED:
    'the person denied it, or the agent is muted or has asked for the same within the last 15 minutes.',
  APPROVAL_EXPIRED:
    'the approval expired before it was given or used; vend without it to request a new one.',
  APPROVAL_MISMATCH:
    'the approval is for another session, service or set of fields, or its policies have changed; vend without it.',
  APPROVAL_RATE_LIMITED: `too many approvals were asked for; ${AGAIN}`,
  CREDENTIAL_SCOPE_DENIED:
    'the capability token or the list of the agent does not cover a field (`details.fields`), or the user of the session is disabled. Where `details.request_access` is there, the agent can ask an administrator for the field.',
  INVALID_AGENT_KEY:
    'the agent key is missing, unknown, revoked or expired; an administrator can issue another.',
  INVALID_CAPABILITY_TOKEN:
    'the token in `X-Service-Token` is missing, expired or of another session; get a new one at `POST /api/v1/agent/sessions/{id}/tokens`.',
  NOT_FOUND: 'there is no such active session, no such enabled service, or no such approval.',
  NO_APPROVER:
    'nobody can give the approval that a policy asks for; an administrator changes the policy, or vouches for the person (`details.reason`).',
  POLICY_DENIED: 'a policy denies this; only an administrator can change that.',
  RATE_LIMITED: `too many vends; ${AGAIN}`,
  SECRET_NOT_SET: 'a field has no current value; an administrator writes one.',
  access_denied: 'the user or the provider refused; start again if that was a mistake.',
  agent_exists: 'another agent of the tenant has this name; choose another.',
  agent_inactive: 'the agent is suspended or deleted; an administrator can resume a suspended one.',
  agent_mismatch: 'an agent may only ask for itself; send its own `agent_id`.',
  agent_muted: 'the user has muted this agent; try again later.',
  already_created:
    'this `Idempotency-Key` has created the object in `details.id`; the secret is not shown twice. Rotate it, or use a new key.',
  action_mismatch: 'what is sent is not what the person was asked; ask for a new approval.',
  already_consumed: 'the approval was used before; ask for a new one.',
  access_requests_off:
    'the tenant does not let agents ask for access; an owner sets `agent_access` of the tenant.',
  already_given: 'the caller has approved this request; it waits for other persons.',
  approval_rate_limited: `too many requests to this user; ${AGAIN}`,
  approver_excluded:
    'the agent acts for this user, who is excluded from the decision; somebody else decides.',
  approver_not_admin:
    'only an administrator can give an agent access; one who stands in the set approves.',
  approver_not_vouched: 'no administrator vouches for this user; one sets `vouched` on the user.',
  attenuation_only: 'a session can only lose rights; start a new session for more.',
  binding_code_mismatch: 'the code is not the one that the agent shows; read it again.',
  binding_code_required: 'this request takes the code that the agent shows, in `binding_code`.',
  channel_not_found: 'there is no such channel, or the caller does not manage it.',
  challenge_expired: 'the challenge is used or too old; ask for a new one.',
  code_expired: 'the code is too old; ask for a new one.',
  delegation_required:
    'the user has not delegated to this agent; the user calls `POST /api/v1/me/delegations`.',
  delivery_not_found: 'there is no such delivery; list the deliveries.',
  deletion_disabled:
    'the tenant does not let people delete their own account; an administrator can delete it.',
  deputy_not_found: 'the user has no deputy, or its time is over.',
  deputy_not_possible:
    'the deputy has to be another user of the tenant, active and vouched for; choose another.',
  email_already_exists: 'an account of the tenant has this address.',
  email_not_verified: 'the address has to be verified first, by the mailed link.',
  enrolment_expired: 'the enrolment was not confirmed in time; start it again.',
  evaluation_budget_exceeded:
    'the question takes more work than one request may; ask for fewer objects, or simplify the model.',
  forbidden: 'the role of the caller or the kind of its credential does not allow this.',
  grant_not_found: 'there is no such grant, or it belongs to another agent.',
  home_tenant: 'this is the first tenant of the organization; it cannot be closed alone.',
  idempotency_key_reused: 'this `Idempotency-Key` came with another body; use a new key.',
  identifier_taken: 'another resource server has this identifier; choose another.',
  insufficient_scope: 'the credential lacks the scope in `details.scope`.',
  interaction_not_found:
    'the sign-in has ended or belongs to another browser; start again at the application.',
  invalid_agent_key:
    'the agent key is unknown, revoked or expired; an administrator can issue another.',
  invalid_client: 'the application did not prove who it is.',
  invalid_code:
    'the code is wrong or used; send the right one before too many attempts have failed.',
  invalid_credentials: 'the address or the password is wrong; the answer does not say which.',
  invalid_email: 'this is not an e-mail address.',
  invalid_invitation: 'the link of the invitation is unknown or used; ask for a new invitation.',
  invalid_link: 'the link is unknown or used; ask for a new one.',
  invalid_mfa_token: 'the `mfa_token` is unknown, used or ended by wrong codes; sign in again.',
  invalid_passkey: 'the passkey is unknown, or its answer does not fit the challenge.',
  invalid_publishable_key: 'no application has this publishable key.',
  invalid_redirect_uri:
    'the address is not registered, or has a form that may not be registered; `details` says which.',
  invalid_refresh_token: 'the refresh token is expired, revoked or malformed; sign in again.',
  invalid_request: 'the request does not match the contract; `details` names each field and rule.',
  invalid_reset_token: 'the link is unknown or used; ask for a new mail.',
  invalid_scope: 'a scope does not exist or is not available here; `details` names it.',
  invalid_state: 'this browser did not start the sign-in, or the sign-in has ended; start again.',
  invalid_subject_token: 'the subject token is not a valid access token of a user of this tenant.',
  invalid_token: 'the token is unknown or expired, or was not issued to an application.',
  invalid_url: 'Cardea may not call this address; `details` names the rule.',
  invalid_verification_token: 'the link is unknown, expired or used; ask for a new mail.',
  invitation_expired: 'the invitation is too old; ask for a new one.',
  last_admin: 'the tenant would have no administrator left; appoint another first.',
  last_credential: 'the account would have no credential left to sign in with; add another first.',
  link_expired: 'the link is too old; ask for a new one.',
  login_disabled: 'the tenant does not allow this way to sign in.',
  magic_link_login_disabled: 'the tenant does not allow signing in by a mailed link.',
  mfa_disabled: 'the tenant has switched second factors off.',
  mfa_required_by_policy: 'the tenant requires a second factor; add another one first.',
  mfa_token_expired: 'the `mfa_token` is older than 300 seconds; sign in again.',
  model_invalid: 'the model contradicts itself; `details` names each fault.',
  no_approver:
    'nobody, or not as many as have to, can decide for this set now, or more than 100 hold it, or who approved may no longer; `details.reason` says which.',
  no_client_secret: 'this application authenticates without a client secret.',
  no_second_factor: 'recovery codes need a second factor; enrol one first.',
  not_an_action:
    'the request was not bound to an action, so there is nothing to use; only `details`, `action_digest` or `use_window_seconds` bind it.',
  not_caught_up: 'this replica has not seen the writes that the request refers to; try again.',
  not_found: 'there is no such object, or it is not visible to the caller.',
  nothing_to_roll_back: 'the fields in `details` have no earlier version.',
  other_identity:
    'the account at the provider belongs to another user, or the user has another one linked.',
  otp_login_disabled: 'the tenant does not allow signing in by a mailed code.',
  overloaded: `the service has too much to do; ${AGAIN}`,
  passkeys_disabled: 'the tenant has switched passkeys off.',
  passkeys_login_disabled: 'the tenant does not allow signing in by a passkey.',
  password_breached: 'the password is in a list of breached ones; choose another.',
  password_login_disabled: 'the tenant does not allow signing in by a password.',
  password_reused: 'the password was used before; choose another.',
  password_too_long: NEW_PASSWORD,
  password_too_short: NEW_PASSWORD,
  password_too_weak: NEW_PASSWORD,
  payload_erased: 'the payload of the delivery was erased; it cannot be sent again.',
  policy_not_found: 'there is no such policy; list the policies.',
  provider_not_configured: 'the tenant has not set this provider up.',
  provider_unavailable: 'the provider does not answer; try again later.',
  rate_limited: AGAIN,
  refresh_token_rotated:
    'the refresh token was used already; its session has ended, so sign in again.',
  registration_closed:
    'the tenant does not allow registration with this address; an administrator can invite the user.',
  request_denied: 'the person has denied the request.',
  request_expired:
    'the request was not decided, or its approval not used, in time; make a new one.',
  request_not_found: 'there is no such approval request, or it does not concern the caller.',
  request_pending: 'nobody has decided the request yet; wait for the decision.',
  request_not_pending: 'the request is already decided; a decision cannot be changed.',
  reset_token_expired: 'the link is too old; ask for a new mail.',
  reveal_disabled: 'the deployment or the service does not allow reading secrets.',
  reveal_limit: `too many secrets were read; ${AGAIN}`,
  scope_not_granted: 'the agent or the user does not allow the requested fields; request fewer.',
  second_factor_required:
    'this takes a second factor: send the one that the account has, or one that it has had for 7 days.',
  secret_not_set: 'the field has no current value; write one.',
  service_exists: 'a service of the tenant has this name; choose another, or change that one.',
  service_not_found: 'there is no service of this name.',
  session_ended: 'the agent session has ended; start another.',
  signup_disabled: 'the deployment does not allow sign-up.',
  slow_down:
    'the client polls more often than `interval` allows; wait as long as `Retry-After` says.',
  slug_taken: 'another tenant has this slug; `details.free_at` says when a closed one frees it.',
  social_sign_in_failed: 'the provider did not confirm the sign-in; start again.',
  step_up_required:
    'the sign-in is too old; call `POST /api/v1/auth/step-up` and repeat the call with the new token.',
  temporarily_unavailable: 'a required dependency is unavailable; try again.',
  tenant_mismatch: 'the publishable key belongs to another tenant than the header names.',
  tenant_not_found: 'there is no such tenant.',
  tenant_required: 'name the tenant by `X-Service-Tenant` or by a publishable key.',
  too_many_attempts: `there were too many wrong attempts; ${AGAIN}`,
  too_many_channels:
    'there are as many channels as may be, 20 of a tenant and 3 of a person; delete one first.',
  too_many_factors: 'the user has the maximum number of factors; remove one first.',
  too_many_policies: 'the tenant has the maximum number of policies; remove one first.',
  too_many_polls: `too many polls wait already; ${AGAIN}`,
  too_many_webhooks: 'the tenant has 500 webhooks; delete one first.',
  unauthenticated: 'the credential is missing or invalid, or its user is disabled or deleted.',
  unknown_approver: 'the tenant has no active user with the id in `approver`.',
  unknown_event: 'there is no such event; `details` names it and lists all events.',
  unknown_field: 'the service has no such field.',
  unknown_role: 'the tenant has no such role.',
  unsupported_credential_type: 'only `static` credentials are supported.',
  user_disabled: 'the user is disabled.',
  user_inactive: 'the user is disabled, deleted or not yet a member.',
  user_not_allowed: 'the agent may neither act for this user nor send them requests.',
  user_not_found: 'the tenant has no such user.',
  user_session_required:
    'only the user may do this, and neither an agent nor an administrator for the user.',
  version_conflict:
    'the object has changed since it was read; read it again, then repeat the change.',
  version_destroyed: 'the value of this version was destroyed.',
  version_in_use: 'this version is current; promote another first.',
  version_not_found: 'the field has no such version.',
  webhook_not_found: 'there is no such webhook, or it belongs to another application.',
  webhook_unavailable: 'the webhook is deleted or disabled; enable it first.',
};

/** Throws for a code without an explanation, because each refusal of an operation must say what to do. */
export function whatToDo(code: string): string {
  const help = HELP[code];
  if (help === undefined) throw new Error(`error-help.ts does not explain ${code}`);
  return help;
}
