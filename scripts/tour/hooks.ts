/** Steps 4 and 14: webhooks are set up and tested, and deliveries arrive signed. */
import { as, type Cast } from './cast.ts';
import { expect, pollUntil } from './player.ts';
import { type Arrived, isSigned } from './receiver.ts';

export async function webhookIsSet(cast: Cast): Promise<void> {
  const { player, hooks } = cast;
  player.step(4, 'A webhook is set up and tested; the secret is shown once');
  const events = ['user.created', 'user.email_verified', 'approval.requested'];
  const admin = as(cast, cast.adminToken);
  const made = await player.call(
    { method: 'POST', path: '/api/v1/webhooks', headers: admin, body: { url: hooks.url, events } },
    201,
    ['id', 'secret'],
  );
  cast.hookSecret = made.body.secret;
  const { id } = made.body;
  await player.call({ method: 'POST', path: `/api/v1/webhooks/${id}/test`, headers: admin }, 202, [
    'status',
  ]);
  const test = await hooks.wait(({ event }) => event === 'webhook.test');
  expect(test !== undefined, 'a webhook.test at the receiver', 'nothing came');
  expect(isSigned(test, cast.hookSecret), 'a signature made with the secret', 'another');
  player.tell('webhook.test arrived, signature verified');
  // The delivery is recorded after the receiver's response.
  const list = { method: 'GET', path: '/api/v1/webhooks/deliveries', headers: admin };
  await pollUntil(player, list, ({ body }) => body.deliveries?.[0] !== undefined);
  const log = await player.call(list, 200);
  expect(log.body.deliveries[0]?.success === true, 'the delivery listed', log.body);
  cast.expectedAudit.add('admin.webhook.create').add('admin.webhook.test');
}

export async function webhooksArrived(cast: Cast): Promise<void> {
  const { player, hooks } = cast;
  player.step(14, 'The webhooks of the story arrived, each once and signed');
  const wanted = ['user.created', 'approval.requested'];
  if (cast.mailbox !== undefined) wanted.push('user.email_verified');
  // A webhook also gets events from some seconds before its creation, such as the account of the company's owner.
  const isOfStory = (name: string, { event, data }: Arrived): boolean =>
    event === name && (name !== 'user.created' || data.id === cast.userId);
  for (const name of wanted) {
    const found = await hooks.wait((each) => isOfStory(name, each));
    expect(found !== undefined, `${name} at the receiver`, 'nothing came');
    expect(isSigned(found, cast.hookSecret), 'a signature made with the secret', 'another');
    const times = hooks.arrived.filter((each) => isOfStory(name, each)).length;
    expect(times === 1, `${name} once`, times);
    player.tell(`${name} arrived once, signature verified`);
  }
}
