/** The introduction for authors of clients. It is shown at `/docs` and is part of every generated client. */
export const introduction = `Identity, fine-grained authorization and agent credentials.

## Authentication
Every call but the public ones carries \`Authorization: Bearer <credential>\`. There are four kinds, and each operation lists those that it takes:

| Scheme | Credential | How one gets it |
| --- | --- | --- |
| \`accessToken\` | access token of a user (JWT, 15 minutes) | \`POST /api/v1/auth/login\`, \`/register\`, \`/signup\`, \`/refresh\` |
| \`agentToken\` | token of an agent within one of its sessions (JWT) | \`POST /api/v1/agent/sessions\` |
| \`agentKey\` | key of an agent, \`agk_…\` | \`POST /api/v1/agents/{id}/keys\` |
| \`apiKey\` | API key of a server, \`svc_live_…\` or \`svc_test_…\` | \`POST /api/v1/api-keys\` |

Beside \`accessToken\` stands the role that the user needs (none: any user), beside \`apiKey\` the scope. Vending takes the agent key and, in \`X-Service-Token\`, the capability token of the session. A missing or invalid credential is 401, a genuine one that may not is 403.

## Tenant
\`X-Service-Tenant\` names the tenant and has to agree with the credential (403 \`tenant_mismatch\`). It is required (400 \`tenant_required\`), except where an operation lists it as optional: there the credential names the tenant. What belongs to another tenant is answered like what does not exist.

## Errors
Every refusal has one shape: \`{"error": {"code", "message", "request_id", "details"?}}\`. Codes are stable, and each has a type of its own that says what \`details\` holds. Messages are for people, never repeat input and may change. \`request_id\` equals \`X-Request-Id\`, and finds the request in logs and audit.

The order of checks is the same everywhere: credential 401, tenant header 400, tenant 403, role or scope 403, media type 415, size 413, form 400.

## Paging
Lists take \`limit\` (up to 1,000) and \`offset\`, and answer \`total\` where it can be counted. Lists that take \`cursor\` answer \`next_cursor\`: send it back for the next page; its content is not for clients.

## Repeating a request
\`x-retry\` of an operation says what a client may do that got no answer, or 503:

- \`safe\`: send it again. A repeat changes nothing more; a repeated DELETE may answer 404.
- \`key\`: send it again if it carried an \`Idempotency-Key\`, with the same key and the same body. For 24 hours a repeat meets what the first request made. Where that answer showed a secret, the repeat is 409 \`already_created\` with the id; another body under the key is 422 \`idempotency_key_reused\`.
- \`never\`: do not. A repeat does it once more, or is refused because the first request was carried out.

\`Retry-After\` on 429 and 503 says how many seconds to wait.

## Consistency
An answer to a write waits until the lists that follow from it are up to date, and carries \`X-Service-Consistency\`. A read that sends this token back sees at least that write, whichever replica serves it; if it cannot within two seconds it is 503 \`not_caught_up\`. A token is \`<log>-<position>\`. Clients may merge tokens: separate up to 16 with commas, and of one log keep the highest position. Any client of the tenant may send any token: it opens nothing.

## Times and identifiers
Times are RFC 3339 in UTC. Identifiers are opaque: compare them, do not parse them. UUIDs are found in capitals, too, and answered in lower case; ids of the objects and principals of your own authorization model are compared as they are written.`;
