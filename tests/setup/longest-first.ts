/**
 * Order of the test files: files that kill processes and wait run first, because they would delay the end of the
 * run. Durations of an earlier run are missing on a new machine. The other files keep the order of vitest, by size.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONG_RUNNING = [/tests\/chaos\//, /tests\/laws\//, /tests\/journeys\/workers\//];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONG_RUNNING.findIndex((pattern) => pattern.test(moduleId));
      return at === -1 ? LONG_RUNNING.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
