import type { Schema } from './published-schema.ts';

/** Headers of a record: CloudEvents 1.0 in Kafka's binary mode, with our extensions. */
export const recordHeaders: Schema = {
  type: 'object',
  description: 'Every value is text in UTF-8.',
  required: [
    ...['content-type', 'ce_specversion', 'ce_id', 'ce_type', 'ce_source', 'ce_subject', 'ce_time'],
    ...['ce_tenantid', 'ce_position', 'ce_schemaversion', 'ce_actortype', 'ce_actorid'],
  ],
  properties: {
    'content-type': constant('application/json', 'Form of the value.'),
    ce_specversion: constant('1.0', 'Version of CloudEvents.'),
    ce_id: text(
      'Id of the event: the same however often it is sent.',
      '0d4f3a52-94a1-4f6e-8a25-5f0f1d5f2c11',
    ),
    ce_type: text('Type of the event, dotted.', 'user.created'),
    ce_source: text('The service whose fact it is.', 'identity'),
    ce_subject: text(
      'The stream that the event stands in, e.g. one user; the second half of the key.',
      'user-01a1ff78-5d3c-7b7e-9c3e-6f2d1b0a4c55',
    ),
    ce_time: text('When it happened. RFC 3339.', '2026-11-21T20:15:22.104Z'),
    ce_tenantid: text(
      'The tenant that it happened in; the first half of the key.',
      '01a1ff70-0000-7000-8000-000000000001',
    ),
    ce_position: digits(
      "Place in the source's log, as a decimal number. Compared, never counted with: it has holes, and may pass 2^53.",
      '4711',
    ),
    ce_part: digits(
      'Where one fact was published as several events: 1 for the second, 2 for the third. They share a position.',
      '1',
    ),
    ce_released: constant(
      'true',
      'Held back for a while and sent now: older than its neighbours, but in order with its own stream.',
    ),
    ce_logepoch: text(
      'Id of the life of the logs: new after a restore from a backup. Positions of different epochs do not compare.',
      '7c0b5e1a-2b8e-4f0c-9d3e-1f2a3b4c5d6e',
    ),
    ce_schemaversion: digits('Version of the schema of the value, per type, from 1 on.', '1'),
    ce_actortype: {
      type: 'string',
      enum: ['user', 'agent', 'system', 'admin'],
      description: 'Kind of who caused it.',
    },
    ce_actorid: text(
      "Who caused it: id of a user, agent or key, or a service's name.",
      '01a1ff78-5d3c-7b7e-9c3e-6f2d1b0a4c55',
    ),
    ce_correlationid: text('Shared by all that came of one request.', 'req_8f14e45f'),
    ce_causationid: text(
      'Id of the event that this one followed from.',
      '9b2c4d7e-5a1f-4c3b-8e6d-7f8091a2b3c4',
    ),
    ce_traceparent: text(
      'W3C Trace Context of the request.',
      '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    ),
  },
};

function text(description: string, example: string): Schema {
  return { type: 'string', description, examples: [example] };
}

function digits(description: string, example: string): Schema {
  return { type: 'string', pattern: '^[0-9]+$', description, examples: [example] };
}

function constant(value: string, description: string): Schema {
  return { type: 'string', enum: [value], description };
}
