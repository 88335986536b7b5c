/** The default report, then what was skipped and why, then one plain line with the counts. */
import type { SerializedError } from 'vitest';
import {
  DefaultReporter,
  type TestCase,
  type TestModule,
  type TestRunEndReason,
} from 'vitest/node';

export default class HouseReporter extends DefaultReporter {
  override onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly SerializedError[],
    reason: TestRunEndReason,
  ) {
    super.onTestRunEnd(modules, unhandled, reason);
    // With `-t` most tests are left out on purpose: only those that lack something are worth a line.
    const filtered = this.ctx.config.testNamePattern !== undefined;
    this.log(summarise(modules, unhandled.length, filtered).join('\n'));
  }
}

const summarise = (modules: readonly TestModule[], unhandled: number, filtered: boolean) => {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const ended = (state: string) => tests.filter((test) => test.result().state === state);
  // A file that cannot be loaded and an error outside any test fail the run without failing a test.
  const broken = modules.filter((module) => module.errors().length > 0).length + unhandled;
  const skipped = ended('skipped').filter((test) => !filtered || reasonOf(test) !== undefined);
  const list = skipped.map((test) => `  ${nameOf(test)}: ${reasonOf(test) ?? 'no reason given'}`);
  const counts = `${ended('passed').length} passed, ${ended('failed').length + broken} failed`;
  return [
    ...(list.length > 0 ? ['Skipped:', ...list, ''] : []),
    skipped.length > 0 ? `${counts}, ${skipped.length} skipped` : counts,
  ];
};

const nameOf = (test: TestCase) => `${test.module.relativeModuleId} > ${test.fullName}`;

const reasonOf = (test: TestCase): string | undefined => {
  const result = test.result();
  return test.meta().skipped ?? (result.state === 'skipped' ? result.note : undefined);
};
