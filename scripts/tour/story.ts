/**
 * The product's story in twenty-one steps: a company signs up, its users sign in, an agent requests a secret, a user
 * approves it, an application is authorized, a second factor is added, a machine reads, two persons have to approve, an
 * agent requests access, and every step is in the audit log.
 */
import { randomBytes } from 'node:crypto';
import { agentAsksForAccess, twoMustAgree } from './access.ts';
import {
  agentAsks,
  agentGetsItsSecret,
  agentIsMade,
  personDecides,
  secretIsKept,
} from './agents.ts';
import { as, type Cast } from './cast.ts';
import { webhookIsSet, webhooksArrived } from './hooks.ts';
import { machineReadsAudit } from './machine-client.ts';
import type { Phone } from './phone.ts';
import { expect, type Player, pollUntil, type Reply } from './player.ts';
import { receiver } from './receiver.ts';
import { keyHasScopes, relationsDecide } from './relations.ts';
import { applicationSignsIn, secondFactorIsAdded } from './sign-ins.ts';
import { adminSignsIn, colleagueRegisters, companySignsUp, sessionEnds } from './users.ts';

export async function playStory(
  player: Player,
  mailbox: string | undefined,
  phone?: Phone,
): Promise<void> {
  const cast: Cast = {
    player,
    mailbox,
    phone,
    run: randomBytes(4).toString('hex'),
    tenantId: '',
    adminToken: '',
    adminEmail: '',
    userId: '',
    userToken: '',
    userRefresh: '',
    hooks: await receiver(),
    hookSecret: '',
    expectedAudit: new Set(),
  };
  try {
    await doorIsOpen(cast);
    await companySignsUp(cast);
    await adminSignsIn(cast);
    await webhookIsSet(cast);
    await colleagueRegisters(cast);
    await relationsDecide(cast);
    await keyHasScopes(cast);
    const agent = await agentIsMade(cast);
    await secretIsKept(cast);
    const session = await agentAsks(cast, agent);
    await personDecides(cast, agent, session);
    await agentGetsItsSecret(cast, agent, session);
    await webhooksArrived(cast);
    await sessionEnds(cast);
    await applicationSignsIn(cast);
    await secondFactorIsAdded(cast);
    await machineReadsAudit(cast);
    await twoMustAgree(cast);
    await agentAsksForAccess(cast);
    await auditTellsAll(cast);
  } finally {
    await cast.hooks.close();
  }
}

async function doorIsOpen({ player }: Cast): Promise<void> {
  player.step(1, 'The service answers, shows its public keys and its own description');
  await player.call({ method: 'GET', path: '/health' }, 200, ['status', 'version']);
  const keys = await player.call({ method: 'GET', path: '/.well-known/jwks.json' }, 200);
  const key = keys.body.keys?.[0];
  expect(key?.kty === 'OKP' && key?.alg === 'EdDSA', 'an EdDSA key of kty OKP', key);
  const document = await player.call({ method: 'GET', path: '/openapi.json' }, 200, ['openapi']);
  expect(document.body.openapi.startsWith('3.1'), 'OpenAPI 3.1', document.body.openapi);
}

async function auditTellsAll(cast: Cast): Promise<void> {
  const { player } = cast;
  player.step(21, 'The audit log lists every step, and the CSV the same rows');
  const headers = as(cast, cast.adminToken);
  const path = '/api/v1/audit/events?limit=1000';
  const types = (reply: Reply) => reply.body.events.map((event: { type: string }) => event.type);
  const missingIn = (reply: Reply) =>
    [...cast.expectedAudit].filter((type) => !types(reply).includes(type));
  // Rows arrive over topics, and repeated hand-outs of a secret are recorded once a second.
  const call = { method: 'GET', path, headers };
  const log = await pollUntil(player, call, (reply) => missingIn(reply).length === 0);
  expect(missingIn(log).length === 0, 'a row of each step', { missing: missingIn(log) });
  await player.call({ method: 'GET', path, headers }, 200, ['count']);
  const csv = await player.call({ method: 'GET', path: '/api/v1/audit/events.csv', headers }, 200);
  const ids: string[] = log.body.events.map((event: { id: string }) => event.id);
  expect(
    ids.every((id) => csv.text.includes(id)),
    'the same ids in the CSV',
    `${ids.length} ids`,
  );
  player.tell(`${ids.length} rows: ${[...new Set(types(log))].sort().join(', ')}`);
}
