import { errorCode } from '@cardea/runtime';
import type { Consumer } from '../bus.ts';
import type { ConsumerDependencies } from './records.ts';

/** Calls a listener. The events have taken effect, so a failing listener cannot undo them. */
export const tell = async (
  {
    consumer,
    needs,
  }: { readonly consumer: Consumer; readonly needs: Pick<ConsumerDependencies, 'log'> },
  listener: () => Promise<void>,
): Promise<void> => {
  try {
    await listener();
  } catch (error) {
    const fields = { consumer: consumer.name, code: errorCode(error) };
    needs.log.error(fields, 'a listener of a consumer failed');
  }
};
