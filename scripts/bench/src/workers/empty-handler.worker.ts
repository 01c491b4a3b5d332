/** The request pipeline in front of a handler that does nothing: the floor of an endpoint that anybody may call. */
import { endpoint, serve } from '@cardea/http';
import { logger, systemClock, systemRandom, uuidV7Ids } from '@cardea/runtime';
import Type from 'typebox';

const empty = endpoint(
  {
    name: 'introspect_nothing',
    repeat: 'safe',
    summary: 'Answers the same to everybody',
    tag: 'OAuth',
    method: 'post',
    path: '/oauth2/introspect',
    who: 'anyone',
    tenant: 'none',
    response: { errors: 'oauth', isSecret: true },
    input: { takesForm: true },
    body: Type.Object({ token: Type.String() }, { additionalProperties: true }),
    ok: Type.Object({ active: Type.Boolean() }, { additionalProperties: true }),
    refusals: {},
  },
  async () => ({ ok: { active: true } }),
);
const write = (): void => undefined;
const server = serve({
  services: [{ service: 'identity', endpoints: [empty] }],
  name: 'bench',
  version: '0.0.0',
  clock: systemClock,
  ids: uuidV7Ids(systemClock, systemRandom),
  logger: logger({ service: 'bench', version: '0.0.0', level: 'debug', stream: { write } }),
  issuer: 'http://127.0.0.1',
  trustedProxies: [],
  port: 0,
  hosts: ['127.0.0.1'],
});
const { port } = await server.start();
process.send?.(`http://127.0.0.1:${port}`);
process.on('disconnect', () => process.exit(0));
