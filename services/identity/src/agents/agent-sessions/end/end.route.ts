/** The agent, its user or an administrator ends an agent session. */
import { named } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import { closed } from '../../../http/answers.ts';
import { agentSessions } from '../agent-session.ts';
import { PATH, SessionId } from '../session-shape.ts';
import { READERS, sees } from '../visibility.ts';
import { endAgentSession } from './end.ts';

type Dependencies = Pick<ServiceDependencies, 'command' | 'streams'>;

export const endAgentSessionRoute = (needs: Dependencies) =>
  endpoint(
    {
      tag: 'Agent sessions',
      name: 'end_agent_session',
      access: { class: 'things', applicationScope: 'account' },
      repeat: 'safe',
      summary: 'End an agent session',
      description:
        'Ends an agent session: its next vend is refused, and so are its tokens. Its agent, its user and administrators may.',
      method: 'delete',
      path: `${PATH}/{id}`,
      who: READERS,
      params: SessionId,
      ok: closed({ data: named('AgentSessionEnded', closed({ status: Type.Literal('ended') })) }),
      refusals: { not_found: 404 },
      consistency: { waitsFor: ['agent_sessions', 'revocations'] },
    },
    async (request) => {
      const { tenantId, principal, params } = request;
      const { id } = params;
      const { state } = await needs.streams.load(agentSessions, { tenantId, id });
      if (state.status === 'none' || !sees(principal, state)) return { refused: 'not_found' };
      const command = await needs.command(request);
      const end = { reason: 'ended', now: command.now } as const;
      const decided = await needs.streams.decideOn(agentSessions, id, command, (session) =>
        endAgentSession(end, session),
      );
      if (!decided.accepted) return { refused: 'not_found' };
      return { ok: { data: { status: 'ended' as const } }, wrote: decided.position };
    },
  );
