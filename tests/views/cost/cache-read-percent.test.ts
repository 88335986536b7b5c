import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_USAGE } from '../../../src/protocol/model/usage.js';
import { swarmText } from '../../../src/terminal/output/swarm-text.js';
import { paintFor } from '../../../src/terminal/terminal.js';
import { formatPercent } from '../../../src/terminal/text/format-number.js';
import { reportPage } from '../../../src/ui/report/report-page.js';
import { statusLine } from '../../../src/ui/session/status-line.js';
import { cellText } from '../../../src/ui/swarm/table/table-columns.js';
import { cacheReadPercent } from '../../../src/views/cost/cache-read-percent.js';
import { SessionCostFold } from '../../../src/views/cost/session-cost.js';
import { SwarmFold } from '../../../src/views/swarm/swarm-fold.js';
import { eventsOf, factsOf, reportOf, SESSION } from '../swarm-facts.js';

const tokens = fc.integer({ min: 0, max: 1_000_000_000 });

describe('the percentage of input that was read from the cache', () => {
  test('is rounded to a tenth, and null if no input was sent', () => {
    expect(cacheReadPercent(9_845, 10_000)).toBe(98.5);
    expect(cacheReadPercent(9_844, 10_000)).toBe(98.4);
    expect(cacheReadPercent(0, 0)).toBeNull();
  });

  test('is 100 only if all input was read from the cache, and 0 only if none was', () => {
    fc.assert(
      fc.property(tokens, tokens, (read, rest) => {
        const share = cacheReadPercent(read, read + rest);
        expect(share === 100).toBe(rest === 0 && read > 0);
        expect(share === 0).toBe(read === 0 && rest > 0);
        if (share === null) return;
        expect(Math.abs(share - (read / (read + rest)) * 100)).toBeLessThan(0.1);
        expect(formatPercent(share)).toBe(`${share} %`);
      }),
    );
  });

  test('is the same on every surface', () => {
    const usage = { ...NO_USAGE, input: 155, cacheRead: 9_845, output: 9 };
    const { begun, started, ended } = factsOf();
    const facts = [...begun(0), started(1), { ...ended(2, 'end_turn'), usage }];
    const [fold, costs] = [new SwarmFold('a_1'), new SessionCostFold()];
    for (const event of eventsOf(facts)) {
      fold.take(event);
      costs.take(event);
    }
    const agents = fold.agents(true);
    const paper = { width: 120, unicode: true, now: 9 };
    const status = { model: 'm', mode: 'default', running: 0, waiting: 0 };
    const cachePercent = agents[0]?.cacheReadPercent ?? 0;
    expect(costs.report().cache.readPercent).toBe(98.5);
    const page = reportPage(reportOf(facts));
    for (const text of ['<dd>98.5 %', '"98.5">98.5 %</td>', '98.5 % of the sent tokens']) {
      expect(page).toContain(text);
    }
    expect(agents.map((agent) => cellText('cache', agent, 9))).toEqual(['98.5 %']);
    expect(swarmText({ session: SESSION, holder: undefined, agents }, paper)).toContain(' 98.5 % ');
    expect(statusLine({ ...status, cachePercent }, 80, paintFor(false))).toContain('cache 98.5 %');
  });
});
