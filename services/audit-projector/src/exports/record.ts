import { accept, type Command, type Streams } from '@cardea/event-store';
import { type ExportMade, exports } from './export.ts';

/** Each export has its own stream, named by its command. */
export async function recordExport(
  streams: Streams,
  command: Command,
  { rows, filters }: Pick<ExportMade['data'], 'rows' | 'filters'>,
): Promise<void> {
  const data: ExportMade['data'] = { format: 'csv', rows, filters };
  await streams.decideOn(exports, command.id, command, (_state, revision) =>
    revision > 0 ? accept() : accept({ type: 'ExportMade', data }),
  );
}
