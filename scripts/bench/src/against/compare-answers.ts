/** Asks all servers the same questions before they are measured. A different answer makes the run void. */
import { type CheckServer, pooled, type Question, sent } from './check-server.ts';

const CHECKS_AT_ONCE = 16;
export const LISTS_AT_ONCE = 4;

/** Throws at the first answer that differs. */
export async function compareAnswers(
  [ours, ...others]: readonly CheckServer[],
  asked: readonly Question[],
): Promise<void> {
  if (ours === undefined) return;
  const answersOf = (server: CheckServer) =>
    pooled(asked, CHECKS_AT_ONCE, async (question) =>
      server.allowed(await sent(server.origin, server.check(question))),
    );
  const expected = await answersOf(ours);
  const allowed = expected.filter(Boolean).length;
  for (const other of others) {
    const answers = await answersOf(other);
    const different = answers.findIndex((answer, at) => answer !== expected[at]);
    if (different !== -1) {
      const question = JSON.stringify(asked[different]);
      throw new Error(`Cardea and ${other.name} answer otherwise: ${question}`);
    }
    console.log(`  ${other.name}: ${answers.length} checks equal, ${allowed} of them allowed`);
  }
}

/** Compares the lists of all servers, and returns the number of objects in each. */
export async function compareLists(
  [ours, ...others]: readonly CheckServer[],
  asked: readonly Question[],
): Promise<readonly number[]> {
  if (ours === undefined) return [];
  const listsOf = (server: CheckServer) =>
    pooled(asked, LISTS_AT_ONCE, async (question) => {
      const text = await sent(server.origin, server.list(question));
      return server.listed(text).toSorted();
    });
  const expected = await listsOf(ours);
  for (const other of others) {
    const lists = await listsOf(other);
    const different = lists.findIndex((ids, at) => `${ids}` !== `${expected[at]}`);
    if (different !== -1) {
      const question = JSON.stringify(asked[different]);
      throw new Error(`Cardea and ${other.name} list otherwise: ${question}`);
    }
    console.log(`  ${other.name}: ${lists.length} lists equal`);
  }
  return expected.map((ids) => ids.length);
}
