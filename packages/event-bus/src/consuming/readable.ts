import type { IntegrationEvent } from '@cardea/contracts';
import Type from 'typebox';
import { Compile } from 'typebox/compile';

/** The envelope that a consumer requires. Additional fields of a newer release are allowed. */
const Envelope = Type.Object({
  id: Type.String({ minLength: 1 }),
  type: Type.String({ minLength: 1 }),
  source: Type.String({ minLength: 1 }),
  time: Type.String({ minLength: 1 }),
  tenantId: Type.String(),
  streamId: Type.String({ minLength: 1 }),
  position: Type.String({ pattern: '^[0-9]{1,19}$' }),
  part: Type.Optional(Type.Integer({ minimum: 0 })),
  schemaVersion: Type.Integer({ minimum: 1 }),
  actor: Type.Object({ type: Type.String(), id: Type.String() }),
  data: Type.Object({ context: Type.Object({}) }),
});
const envelope = Compile(Envelope);

const FAULTS_MAX = 10;

/** The event in a record's value, or the reason why it is not readable. */
export const readable = (
  value: unknown,
):
  | { readonly event: IntegrationEvent }
  | { readonly event?: undefined; readonly faults: readonly string[] } =>
  envelope.Check(value)
    ? { event: value as unknown as IntegrationEvent }
    : {
        faults: envelope
          .Errors(value)
          .slice(0, FAULTS_MAX)
          .map((fault) => `${fault.instancePath} ${fault.keyword}`),
      };
