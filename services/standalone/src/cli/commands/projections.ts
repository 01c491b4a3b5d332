/** Shows how far the tables lag behind their logs, and rebuilds tables. */
import { rebuildProjection } from '@cardea/read-models';
import type { Part } from '@cardea/service';
import { type Command, done, table } from '../command.ts';
import type { Deployment } from '../deployment.ts';
import { NotDone, WrongUsage } from '../failures.ts';
import { lagOf, parkedBy } from '../lag.ts';

export const projectionsStatus: Command = {
  name: 'projections status',
  summary: 'Shows how far each projection lags behind its log.',
  run: async ({ open }) => {
    const deployment = await open();
    const all = await Promise.all(deployment.parts().map((part) => statusOf(part, deployment)));
    const projections = all.flat();
    const rows = projections.map((one) => [
      one.projection,
      `position ${one.position}`,
      `head ${one.head}`,
      `behind ${one.behind}`,
      one.parked_streams === 0 ? '' : `PARKED ${one.parked_streams}`,
    ]);
    return done(table(rows), { projections });
  },
};

async function statusOf(part: Part, deployment: Deployment) {
  const { name } = part.definition;
  const { database } = deployment.shared();
  const head = await part.needs.store.head(name);
  const { rows } = await database.system.query<{ name: string; position: string }>(
    `SELECT name, position FROM ${name}.projection_checkpoints`,
  );
  const parked = await parkedBy(database, name);
  return await Promise.all(
    part.service.projections.map(async (projection) => {
      const found = rows.find((row) => row.name === projection.name);
      const position = BigInt(found?.position ?? 0);
      return {
        projection: `${name}.${projection.name}`,
        position: String(position),
        head: String(head),
        behind: (await lagOf(part, position, head)).count,
        parked_streams: parked.get(`projection:${projection.name}`) ?? 0,
      };
    }),
  );
}

export const projectionsRebuild: Command = {
  name: 'projections rebuild',
  summary:
    'Rebuilds tables from the first event and replaces the old ones. All services may run during it.',
  words: ['[projection]'],
  options: { all: { type: 'boolean', help: 'every projection of every service' } },
  run: async ({ open, words, options, tell }) => {
    const [wanted] = words;
    if ((wanted === undefined) === (options['all'] !== true)) {
      throw new WrongUsage('takes the name of a projection (service.name), or --all');
    }
    const { parts, settings, log } = await open();
    const chosen = parts().flatMap((part) =>
      part.service.projections
        .filter(({ name }) => wanted === undefined || `${part.definition.name}.${name}` === wanted)
        .map((projection) => ({ part, projection })),
    );
    if (chosen.length === 0) throw new NotDone('there is no such projection');
    let parkedStreams = 0;
    for (const { part, projection } of chosen) {
      const name = `${part.definition.name}.${projection.name}`;
      const rebuilt = await rebuildProjection({
        connectionString: settings.MIGRATION_DATABASE_URL.reveal(),
        projection,
        schema: part.definition.name,
        store: part.needs.store,
        open: (sealed, place) => part.needs.sealer.open(sealed, place),
        log,
      });
      parkedStreams += rebuilt.parkedStreams;
      const position = String(rebuilt.position);
      tell(`rebuilt ${name} up to ${position}`, { rebuilt: name, position });
    }
    const lines = parkedStreams === 0 ? [] : [`${parkedStreams} streams are parked.`];
    return { ok: parkedStreams === 0, lines, json: { parked_streams: parkedStreams } };
  },
};
