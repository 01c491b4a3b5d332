/** Requests that refer to a person in their query or body, with which tenant B could try to reach into A. */
import type { Ask } from './sample.ts';

export type Ids = {
  readonly userId: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly webhookId: string;
};

type Reference = {
  readonly operation: string;
  readonly by: 'admin' | 'member' | 'agent key';
  readonly ask: (ids: Ids) => Ask;
};

const GRANT = { service_name: 'billing', fields: ['api_key'] };

export const references: readonly Reference[] = [
  {
    operation: 'create_approval_request',
    by: 'admin',
    ask: ({ userId, agentId }) => ({
      body: { user_id: userId, agent_id: agentId, action: 'write_data' },
    }),
  },
  {
    operation: 'create_approval_request',
    by: 'agent key',
    ask: ({ userId, agentId }) => ({
      body: { user_id: userId, agent_id: agentId, action: 'write_data' },
    }),
  },
  {
    operation: 'grant_delegation',
    by: 'member',
    ask: ({ agentId }) => ({ body: { agent_id: agentId, services: [GRANT] } }),
  },
  {
    operation: 'create_agent',
    by: 'admin',
    ask: ({ userId }) => ({ body: { name: 'stray', owner_user_id: userId } }),
  },
  {
    operation: 'start_agent_session',
    by: 'agent key',
    ask: ({ userId }) => ({ body: { services: [GRANT], user_id: userId } }),
  },
  {
    operation: 'list_agent_sessions',
    by: 'admin',
    ask: ({ agentId }) => ({ query: { agent_id: agentId } }),
  },
  {
    operation: 'add_approval_policy',
    by: 'admin',
    ask: ({ userId }) => ({
      body: {
        name: 'foreign eyes',
        service_name: 'billing',
        fields: '*',
        agent_ids: '*',
        effect: 'require_approval',
        approver: { user_id: userId },
      },
    }),
  },
  {
    operation: 'evaluate_approval_policies',
    by: 'admin',
    ask: ({ agentId }) => ({ body: { agent_id: agentId, ...GRANT } }),
  },
  {
    operation: 'list_grants',
    by: 'admin',
    ask: ({ agentId }) => ({ query: { agent_id: agentId } }),
  },
  {
    operation: 'list_grants',
    by: 'agent key',
    ask: ({ sessionId }) => ({ query: { session_id: sessionId } }),
  },
  {
    operation: 'list_webhook_deliveries',
    by: 'admin',
    ask: ({ webhookId }) => ({ query: { webhook_id: webhookId } }),
  },
];
