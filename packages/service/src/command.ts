/**
 * Builds the command of a request, a policy or a sweeper: its id, its time, and its actor. Address and user agent are
 * encrypted before anything is decided, because events keep them for years.
 */
import type { Principal, UserPrincipal } from '@cardea/auth';
import type { ActorType, ServiceName } from '@cardea/contracts';
import { contextLocation, type Sealer } from '@cardea/crypto';
import type { Command, EventMetadata } from '@cardea/event-store';
import type { Request } from '@cardea/http';
import { type Clock, uuidFrom } from '@cardea/runtime';

const USER_AGENT_MAX_CHARS = 512;

type Dependencies = {
  readonly service: ServiceName;
  readonly sealer: Sealer;
  readonly clock: Clock;
};
type AnyRequest = Request<unknown, unknown, unknown>;

export const commandOfRequest =
  ({ service, sealer, clock }: Dependencies) =>
  async (
    request: AnyRequest,
    as: { readonly tenantId?: string; readonly actor?: EventMetadata['actor'] } = {},
  ): Promise<Command> => {
    const now = clock.now();
    const tenantId = as.tenantId ?? request.tenantId;
    const seal = (field: 'ip' | 'user_agent', text: string) =>
      sealer.seal(tenantId, contextLocation(tenantId, now, field), text);
    const [ip, userAgent] = await Promise.all([
      seal('ip', request.ip),
      seal('user_agent', request.userAgent.slice(0, USER_AGENT_MAX_CHARS)),
    ]);
    const { principal } = request;
    const metadata: EventMetadata = {
      tenantId,
      actor: as.actor ?? actorOf(principal, request.asksForRole, service),
      requestId: request.requestId,
      ...(ip === 'erased' ? {} : { ip }),
      ...(userAgent === 'erased' ? {} : { userAgent }),
      ...(principal?.kind === 'agent' && principal.userId !== null
        ? { agentId: principal.id }
        : {}),
      ...(request.traceparent === undefined ? {} : { traceparent: request.traceparent }),
      ...appOf(request),
    };
    return { id: request.commandId, now, metadata };
  };

/** A command of the service itself. The same parts give the same command, so a repeat appends nothing. */
export const commandOfSystem =
  ({ service, clock }: Omit<Dependencies, 'sealer'>) =>
  (tenantId: string, ...idParts: readonly string[]): Command => ({
    id: uuidFrom(service, ...idParts),
    now: clock.now(),
    metadata: { tenantId, actor: { type: 'system', id: service } },
  });

/** The actor in an audit row (`docs/contract.md` 2.12). API keys, machines and unknown callers act as `system`. */
export function actorOf(
  principal: Principal | undefined,
  asksForRole: boolean,
  service: ServiceName,
): { readonly type: ActorType; readonly id: string } {
  switch (principal?.kind) {
    case undefined:
      return { type: 'system', id: service };
    case 'user':
      if (principal.impersonatedBy !== null) return { type: 'admin', id: principal.impersonatedBy };
      return { type: asksForRole && hasRole(principal) ? 'admin' : 'user', id: principal.id };
    case 'agent':
      return principal.userId === null
        ? { type: 'agent', id: principal.id }
        : { type: 'user', id: principal.userId };
    case 'api_key':
    case 'client':
      return { type: 'system', id: principal.id };
  }
}

const ADMIN_ROLES = ['admin', 'owner', 'system_admin'];
/** A caller that was refused because it lacks the role acted as an ordinary user. */
const hasRole = ({ roles }: UserPrincipal): boolean =>
  roles.some((role) => ADMIN_ROLES.includes(role));

/**
 * The application of a request: that of its key or session. A header counts only if those name none, and is then marked
 * as named by the caller.
 */
export function appOf({
  principal,
  appId: claimed,
}: Pick<AnyRequest, 'principal' | 'appId'>): Pick<EventMetadata, 'appId' | 'appClaimed'> {
  const own = principal?.appId ?? undefined;
  if (own !== undefined) return { appId: own };
  return claimed === undefined ? {} : { appId: claimed, appClaimed: true };
}
