/** Prints the default report, the skipped tests with reasons, and a plain line with the counts. */
import type { SerializedError } from 'vitest';
import {
  DefaultReporter,
  type TestCase,
  type TestModule,
  type TestRunEndReason,
} from 'vitest/node';

export default class CountsReporter extends DefaultReporter {
  override onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly SerializedError[],
    reason: TestRunEndReason,
  ) {
    super.onTestRunEnd(modules, unhandled, reason);
    // With `-t` most tests are left out on purpose, so only tests without their tools are listed.
    const filtered = this.ctx.config.testNamePattern !== undefined;
    this.log(summarise(modules, unhandled.length, filtered).join('\n'));
  }
}

const summarise = (modules: readonly TestModule[], unhandled: number, filtered: boolean) => {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const inState = (state: string) => tests.filter((test) => test.result().state === state);
  // A file that does not load and an error outside any test fail the run without a failed test.
  const broken = modules.filter((module) => module.errors().length > 0).length + unhandled;
  const skipped = inState('skipped').filter((test) => !filtered || reasonOf(test) !== undefined);
  const list = skipped.map((test) => `  ${nameOf(test)}: ${reasonOf(test) ?? 'no reason given'}`);
  const counts = `${inState('passed').length} passed, ${inState('failed').length + broken} failed`;
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
