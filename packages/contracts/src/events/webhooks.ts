/** The events of the webhook dispatcher: changes of webhooks, and deliveries that failed for good. */

import { fact, flag, id, instant, nullable, number, text, texts } from '../fields.ts';
import { integrationEvents } from '../integration-event.ts';
import { actionDenied } from './action-denied.ts';

const webhook = { webhook_id: id('The webhook.') };
const shape = {
  origin: text(
    'Scheme, host and port that it sends to; never the path, which may carry a token.',
    'https://hooks.example.com',
  ),
  events: texts('Names of the events that it is sent.', 'user.created'),
  enabled: flag('Whether it is sent anything.'),
};
const delivery = { ...webhook, delivery_id: id('The delivery.') };
const event = text('Name of the event that the delivery tells of.', 'user.created');

export const webhooksEvents = integrationEvents('webhooks', {
  'webhook.created': fact('A webhook was made.', ['audit'], { ...webhook, ...shape }),
  'webhook.updated': fact(
    'A webhook was changed; the values are those after the change.',
    ['audit'],
    {
      ...webhook,
      ...shape,
      changed: texts('Names of what has changed.', 'events'),
    },
  ),
  'webhook.secret_rotated': fact('A webhook signs with a new secret.', ['audit'], {
    ...webhook,
    version: number('Version of the secret.', 1),
  }),
  'webhook.deleted': fact('A webhook was deleted.', ['audit'], webhook),
  'webhook.tested': fact('Someone has asked for a test delivery.', ['audit'], delivery),
  'webhook.auto_disabled': fact(
    'A webhook was switched off, for it had failed for days.',
    ['audit'],
    {
      ...webhook,
      failing_since: instant('When the first of the failures came.'),
      failures: number('How many in a row.', 1),
    },
  ),
  'delivery.retried': fact('Someone has asked for a delivery to be made again.', ['audit'], {
    ...delivery,
    retry_of: id('The delivery that it repeats.'),
    event,
  }),
  'delivery.failed': fact('A delivery was given up after its last attempt.', ['audit'], {
    ...delivery,
    event,
    attempts: number('How often it was tried.', 1),
    status_code: number('Status of the last answer; 0 where none came.', 0),
    error: nullable(text('What went wrong where no answer came.', 'timeout')),
  }),
  'action.denied': actionDenied,
});
