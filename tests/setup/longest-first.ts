/**
 * Which test files begin first. What waits for long would hold up the end if it began last, and a new machine
 * has no figures of a run before: so those that kill and wait go ahead, and the rest by size, as vitest does.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONG = [/tests\/chaos\//, /tests\/laws\//, /tests\/journeys\/workers\//];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((pattern) => pattern.test(moduleId));
      return at === -1 ? LONG.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
